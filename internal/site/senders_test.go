package site

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/relay"
	"berth/internal/wire"
	"berth/proxy"
	"berth/proxy/resident"
	"berth/routing"
)

// unused is a sender that nothing is to be sent by.
type unused struct{ t *testing.T }

// Send implements exchange.Sender.
func (u unused) Send(_ context.Context, r *exchange.Request, _ time.Duration) (*wire.Response, error) {
	u.t.Errorf("%s was sent", r.URL)
	return nil, &exchange.SendError{Err: errors.New("unused"), Refused: true}
}

// Close implements exchange.Sender.
func (unused) Close() {}

// Berths that follow a change of the configuration do so one after the other. What one passes on to another that has the pool, its upstream
// or its server no more is not taken there, and is no failure of that upstream.
func TestWhatAnotherBerthHasNoMoreIsNotTaken(t *testing.T) {
	plain := unused{t}
	mailbox := relay.New(nil, "me", nil, nil)
	face := func(pool string, client exchange.Sender) *proxy.Endpoint {
		return &proxy.Endpoint{Client: client, Router: &routing.Router{Pool: routing.NewPool(routing.PoolOptions{Name: pool})}}
	}
	s := &Site{Observers: Observers{Log: slog.New(slog.DiscardHandler)}, mailbox: mailbox}
	s.now.Store(&generation{site: s, faces: []*proxy.Endpoint{
		face("http", plain), face("resident", &resident.Sender{HTTP: plain, Pool: "resident", Mailbox: mailbox}),
	}})
	for _, target := range []string{"stdio:///u", "sse+http://h/sse"} {
		for _, pool := range []string{"none", "http", "resident"} {
			for _, version := range []string{"2025-11-25", "2026-07-28"} {
				at, _ := url.Parse(target)
				r := &exchange.Request{Method: wire.MethodPost, URL: at, Header: wire.NewHeader(mcp.HeaderSession, "me~1", mcp.HeaderVersion, version), Body: []byte("{}")}
				response, err := s.answerOther(t.Context(), resident.Addressed(r, pool))
				failed, _ := errors.AsType[*exchange.SendError](err)
				switch {
				case pool == "resident" && version == "2025-11-25":
					if err != nil || response.Status != wire.StatusNotFound || !response.Unasked {
						t.Errorf("%s of %s: got %+v, %v", target, pool, response, err)
					}
				case failed == nil || failed.Sent || !failed.Between || !errors.Is(err, relay.ErrGone):
					t.Errorf("%s of %s, %s: got %v, %+v", target, pool, version, response, failed)
				}
			}
		}
	}
}
