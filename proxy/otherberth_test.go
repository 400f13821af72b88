package proxy_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/relay"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy"
	"berth/proxy/resident"
	"berth/routing"
)

// others sends to servers that speak HTTP with SSE, of which another berth has opened the sessions at a.
type others struct{ exchange.Sender }

// Send implements exchange.Sender.
func (o others) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	own := *request
	own.URL = &url.URL{Scheme: "http", Host: request.URL.Host, Path: request.URL.Path}
	response, err := o.Sender.Send(ctx, &own, wait)
	if err == nil && strings.HasPrefix(own.URL.Host, "a") && strings.Contains(string(own.Body), `"initialize"`) {
		response.Header.Set("Mcp-Session-Id", "other~"+response.Header.Get("Mcp-Session-Id"))
	}
	return response, err
}

// wayStore is a store that berths share, of which the way to another one may be full or away.
type wayStore struct {
	*storage.Store
	full, away bool
}

func (*wayStore) Shared() bool { return true }

func (s *wayStore) Get(ctx context.Context, key string) (storage.Record, error) {
	if s.away && strings.HasPrefix(key, "relay:lease:other") {
		return storage.Record{}, storage.ErrUnavailable
	}
	return s.Store.Get(ctx, key)
}

func (s *wayStore) AddMember(ctx context.Context, list, member string, ttl time.Duration, most int) error {
	if s.full && strings.HasPrefix(list, "relay:inbox:other") {
		return storage.ErrFull
	}
	return s.Store.AddMember(ctx, list, member, ttl, most)
}

// besideAnother runs a test of a berth whose clients' sessions at a live with another one.
func besideAnother(t *testing.T, test func(t *testing.T, f *rig, way *wayStore)) {
	synctest.Test(t, func(t *testing.T) {
		keys, err := seal.NewKeyring(make([]byte, seal.MinSecret))
		if err != nil {
			t.Fatal(err)
		}
		way := &wayStore{Store: openStore(t, "memory:")}
		for key, value := range map[string]string{"relay:since": "0", "relay:lease:me": "stands", "relay:lease:other": "stands"} {
			if _, _, err := way.PutIfAbsent(t.Context(), key, []byte(value), time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		f := newRig(t, reinit(rigOptions{
			size: 2, store: way.Store, probe: true,
			upstream: func(_ int, u *routing.Upstream) { u.URL.Scheme = resident.SchemeSSE },
			options:  func(o *proxy.Options) { o.Limits.Body = 16 << 20 },
			endpoint: func(ep *proxy.Endpoint) {
				m := relay.New(way, "me", keys, slog.New(slog.DiscardHandler))
				ep.Client = &resident.Sender{HTTP: ep.Client, SSE: others{ep.Client}, Pool: "p", Mailbox: m}
			},
		}))
		test(t, f, way)
		time.Sleep(time.Minute) // what is closed has gone
	})
}

func (f *rig) sessionIsAt(session string) string {
	return ownerOf(f.bindings, f.router.SessionKey("", session))
}

// A session whose server another berth runs stays there while only the way to that berth fails, and nothing of that is a fault of the
// upstream's: the client is told what it is.
func TestASessionStaysWithAnotherBerthThatIsOutOfReach(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(*wayStore)
		body   int // bytes
		status int
		reason string
	}{
		"the store is away":     {func(s *wayStore) { s.away = true }, 0, http.StatusServiceUnavailable, "store_unavailable"},
		"that berth is busy":    {func(s *wayStore) { s.full = true }, 0, http.StatusServiceUnavailable, "overloaded"},
		"the body is too large": {func(*wayStore) {}, relay.MaxBody, http.StatusRequestEntityTooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			besideAnother(t, func(t *testing.T, f *rig, way *wayStore) {
				session, a := f.initialize(), f.pool.Find("a")
				c.breaks(way)
				for range 6 {
					r := f.legacy(session, "tools/call", `"name":"who","arguments":{"x":"`+strings.Repeat("x", c.body)+`"}`)
					if later := r.header.Get("Retry-After") != ""; r.status != c.status || !strings.Contains(r.body, c.reason) || later != (c.status == http.StatusServiceUnavailable) {
						t.Fatalf("got %d %.200s, again %v", r.status, r.body, later)
					}
				}
				if at := f.sessionIsAt(session); at != "a" || f.servers[1].Calls("initialize") != 0 {
					t.Errorf("the session was moved to %s", at)
				}
				if a.Silent() || a.Ejected() {
					t.Errorf("a is %+v, silent %v, ejected %v", a.State(), a.Silent(), a.Ejected())
				}
			})
		})
	}
}

// One that is gone has taken its sessions along.
func TestASessionLeavesAnotherBerthThatIsGone(t *testing.T) {
	besideAnother(t, func(t *testing.T, f *rig, way *wayStore) {
		session := f.initialize()
		if err := way.Delete(t.Context(), "relay:lease:other"); err != nil {
			t.Fatal(err)
		}
		r := f.legacy(session, "tools/call", `"name":"who","arguments":{}`)
		if at := f.sessionIsAt(session); r.status != http.StatusOK || at != "b" {
			t.Errorf("got %d %.200s at %s", r.status, r.body, at)
		}
	})
}

// That says nothing of the upstream, which may be silent still.
func TestABerthThatIsGoneSpeaksForNoUpstream(t *testing.T) {
	besideAnother(t, func(t *testing.T, f *rig, way *wayStore) {
		session, a := f.initialize(), f.pool.Find("a")
		if err := way.Delete(t.Context(), "relay:lease:other"); err != nil {
			t.Fatal(err)
		}
		f.servers[0].freeze()
		f.pool.FellSilent(a, io.EOF)
		if r := f.legacy(session, "tools/call", `"name":"who","arguments":{}`); r.status != http.StatusOK || !a.Silent() {
			t.Errorf("got %d %.200s, silent %v", r.status, r.body, a.Silent())
		}
	})
}
