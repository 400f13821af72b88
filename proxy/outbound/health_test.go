package outbound

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/routing/health"
)

// answering is what an upstream does with each request.
type answering func(ctx context.Context, wait time.Duration) (*wire.Response, error)

func (a answering) Send(ctx context.Context, _ *exchange.Request, wait time.Duration) (*wire.Response, error) {
	return a(ctx, wait)
}

func (answering) Close() {}

func status(code int) answering {
	return func(context.Context, time.Duration) (*wire.Response, error) {
		return &wire.Response{Status: code, Body: io.NopCloser(strings.NewReader(""))}, nil
	}
}

// turnsAway is a sender that has too much to do, and asks nobody.
func turnsAway(context.Context, time.Duration) (*wire.Response, error) {
	return exchange.TurnedAway(&mcp.Error{Status: wire.StatusServiceUnavailable}, nil), nil
}

func fails(e exchange.SendError) answering {
	return func(context.Context, time.Duration) (*wire.Response, error) {
		e.Err = errors.New("it failed")
		return nil, &e
	}
}

// hangs answers nothing, until ctx ends or the wait is over.
func hangs(ctx context.Context, wait time.Duration) (*wire.Response, error) {
	var over <-chan time.Time
	if wait > 0 {
		over = time.After(wait)
	}
	select {
	case <-over:
		return nil, &exchange.SendError{Err: errors.New("too late"), Sent: true, TimedOut: true}
	case <-ctx.Done():
		return nil, &exchange.SendError{Err: context.Cause(ctx), Sent: true, TimedOut: errors.Is(ctx.Err(), context.DeadlineExceeded)}
	}
}

// What an exchange says of its upstream is the same for whoever sent it.
func TestWhatAnOutcomeSaysOfAnUpstream(t *testing.T) {
	again := Terms{Again: true}
	for name, c := range map[string]struct {
		does            answering
		terms           Terms
		life            time.Duration // of the context; 0: any
		ejected, silent bool
	}{
		"an answer":                               {does: status(200)},
		"a refusal":                               {does: status(404)},
		"an unknown method":                       {does: status(501)},
		"a server's error":                        {does: status(500), ejected: true},
		"a gateway's error":                       {does: status(503), ejected: true},
		"a bound of berth's own":                  {does: turnsAway},
		"nobody listens":                          {does: fails(exchange.SendError{Refused: true}), ejected: true, silent: true},
		"broken off before anything was sent":     {does: fails(exchange.SendError{}), ejected: true, silent: true},
		"broken off":                              {does: fails(exchange.SendError{Sent: true}), ejected: true},
		"no answer in HTTP":                       {does: fails(exchange.SendError{Sent: true, Garbled: true}), ejected: true},
		"no descriptor left":                      {does: fails(exchange.SendError{Starved: true})},
		"no way to another berth":                 {does: fails(exchange.SendError{Between: true})},
		"no way there in time":                    {does: fails(exchange.SendError{Between: true, TimedOut: true})},
		"another berth lost with it":              {does: fails(exchange.SendError{Between: true, Sent: true})},
		"no headers in time":                      {does: hangs, terms: Terms{Wait: time.Second}, ejected: true, silent: true},
		"no headers in time, as the context says": {does: hangs, terms: Terms{Wait: time.Second}, life: time.Second, ejected: true, silent: true},
		"the context ends first":                  {does: hangs, terms: Terms{Wait: time.Second}, life: time.Millisecond},
		"the context ends":                        {does: hangs, life: time.Second},
		"broken off, and sent again":              {does: fails(exchange.SendError{}), terms: again},
		"a read broken off, and sent again":       {does: fails(exchange.SendError{Sent: true}), terms: Terms{Again: true, Reads: true}},
		"a call broken off, which is not":         {does: fails(exchange.SendError{Sent: true}), terms: again, ejected: true},
		"refused, which is not":                   {does: fails(exchange.SendError{Refused: true}), terms: again, ejected: true, silent: true},
	} {
		for _, watched := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				u := &routing.Upstream{Name: "a"}
				pool := routing.NewPool(routing.PoolOptions{
					Upstreams: []*routing.Upstream{u, {Name: "b"}}, Settings: routing.Settings{Ejection: health.Ejection{Failures: 1}},
					Probe: func(context.Context, *routing.Upstream) error { return nil },
				})
				ep := &inbound.Endpoint{Client: c.does, Router: &routing.Router{Pool: pool}}
				ctx := t.Context()
				if c.life > 0 {
					short, cancel := context.WithTimeout(ctx, c.life)
					defer cancel()
					ctx = short
				}
				terms := c.terms
				terms.Watched = watched
				_, _ = To(ep).Send(ctx, u, &exchange.Request{}, terms)
				if u.Ejected() != c.ejected || u.Silent() != c.silent {
					t.Errorf("%s: got ejected %v, silent %v, want %v, %v", name, u.Ejected(), u.Silent(), c.ejected, c.silent)
				}
			})
		}
	}
}
