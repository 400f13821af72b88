package held

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
	"berth/proxy/inbound"
	"berth/routing"

	"go.opentelemetry.io/otel/metric/noop"
)

// nowhere sends to nobody.
type nowhere struct{}

func (nowhere) Send(context.Context, *exchange.Request, time.Duration) (*wire.Response, error) {
	return nil, &exchange.SendError{Err: errors.New("nobody is there")}
}
func (nowhere) Close() {}

// A call whose time is over as somebody who has its turn leaves it waiting is given up all the same.
func TestACallIsGivenUpWhoseTimeIsOverInATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &routing.Upstream{Name: "a", URL: &url.URL{Scheme: "http", Host: "a:80"}}
		ep := &inbound.Endpoint{Router: &routing.Router{Pool: routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{u}})}, Client: nowhere{}}
		at := &legacy.Upstream{Upstream: u, Endpoint: func() *inbound.Endpoint { return ep }, Log: slog.New(slog.DiscardHandler)}
		out := &exchange.Request{Method: wire.MethodPost, URL: u.URL, Header: new(wire.Header)}
		calls := New(func() time.Duration { return time.Minute }, nil, "me", rounds.NewCounter(noop.Meter{}, "p"), func() {})
		registry := sessions.NewRegistry(func() sessions.Settings { return sessions.Settings{Most: 1} }, nil)
		h, err := calls.Take(t.Context(), &rounds.State{Request: []byte(`"1"`), Event: "e", By: "me"}, registry, at, out)
		if err != nil {
			t.Fatal(err)
		}
		h.mu.Lock()
		h.until = time.Now()
		h.begin()
		h.mu.Unlock()
		time.Sleep(time.Millisecond / 2) // it is over, and the turn is not
		h.release()
		time.Sleep(time.Minute)
		if h.turn <- struct{}{}; !h.IsOver() {
			t.Error("the call waits on")
		}
		h.release()
		time.Sleep(2 * Replay)
		if calls.Size() != 0 {
			t.Error("the call is remembered")
		}
	})
}
