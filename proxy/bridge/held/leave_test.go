package held

import (
	"context"
	"log/slog"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
	"berth/proxy/inbound"
	"berth/routing"

	"go.opentelemetry.io/otel/metric/noop"
)

// slow is a shared store that answers a look at a record when it is told to.
type slow struct {
	*storage.Store

	answers chan struct{}
}

func (slow) Shared() bool { return true }

func (s slow) Get(ctx context.Context, key string) (storage.Record, error) {
	<-s.answers
	return s.Store.Get(ctx, key)
}

// A round that comes as its call is being left to another berth is taken on all the same: its client was asked there, and has come back.
func TestARoundThatComesAsItsCallIsLeftIsTakenOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, err := storage.Open("memory:", storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer memory.Close()
		store := slow{memory, make(chan struct{})}
		u := &routing.Upstream{Name: "a", URL: &url.URL{Scheme: "http", Host: "a:80"}}
		ep := &inbound.Endpoint{Router: &routing.Router{Pool: routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{u}})}, Client: nowhere{}}
		at := &legacy.Upstream{Upstream: u, Endpoint: func() *inbound.Endpoint { return ep }, Log: slog.New(slog.DiscardHandler)}
		out := &exchange.Request{Method: wire.MethodPost, URL: u.URL, Header: new(wire.Header)}
		calls := New(func() time.Duration { return time.Minute }, store, "me", rounds.NewCounter(noop.Meter{}, "p"), func() {})
		registry := sessions.NewRegistry(func() sessions.Settings { return sessions.Settings{Most: 1} }, nil)
		take := func(by string) *Call {
			h, err := calls.Take(t.Context(), &rounds.State{Request: []byte(`"1"`), Event: "e", By: by}, registry, at, out)
			if err != nil {
				t.Error(err)
			}
			return h
		}
		first := take("me")
		first.WaitOn(nil, time.Now().Add(time.Minute))
		if err := memory.Put(t.Context(), "bridge:\"1\"", []byte("another"), time.Minute); err != nil {
			t.Fatal(err)
		}
		go calls.Taken(t.Context(), `"1"`)
		synctest.Wait()
		taken := make(chan *Call)
		go func() { taken <- take("another") }()
		synctest.Wait()
		store.answers <- struct{}{}
		second := <-taken
		if second == first || second.IsOver() || calls.Size() != 1 {
			t.Errorf("got %+v, %d calls", second, calls.Size())
		}
		second.Finish()
		if time.Sleep(2 * Replay); calls.Size() != 0 {
			t.Error("the call is remembered")
		}
	})
}
