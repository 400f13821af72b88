package proxy_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
	"berth/proxy"
	"berth/routing/health"
)

// watching is a rig whose upstreams are asked for a sign of life after 10 s, with what its
// pool logs.
func watching(t *testing.T, o rigOptions) (*rig, *realtest.Journal) {
	t.Helper()
	log := new(realtest.Journal)
	o.probe, o.log = true, slog.New(slog.NewTextHandler(log, nil))
	o.endpoint = func(ep *proxy.Endpoint) { ep.Timeouts.Quiet = 10 * time.Second }
	return newRig(t, o), log
}

// beside sends a request whose answer nobody waits for, and returns how to leave it.
func (f *rig) beside(make func(ctx context.Context) *http.Request) (leave func()) {
	ctx, cancel := context.WithCancel(f.t.Context())
	go func() {
		if response, err := f.client.Do(make(ctx)); err == nil {
			<-ctx.Done()
			response.Body.Close()
		}
	}()
	synctest.Wait()
	return cancel
}

// An instance that froze with nothing but tool calls and standing streams on it showed
// nowhere: none of these has a time-out.
func TestFrozenInstanceShowsByWhatHasNoTimeOut(t *testing.T) {
	const sleep = `"name":"slow_compute","arguments":{"seconds":600,"label":"x"}`
	for name, begin := range map[string]func(f *rig, session string) (leave func()){
		"a tool call in a session": func(f *rig, session string) func() {
			return f.beside(func(ctx context.Context) *http.Request { return f.legacyRequest(ctx, session, "tools/call", sleep) })
		},
		"a standing stream of a session": func(f *rig, session string) func() {
			return f.beside(func(ctx context.Context) *http.Request {
				return f.request(ctx, http.MethodGet, "", legacyHeader(session)...)
			})
		},
		"a subscription": func(f *rig, _ string) func() {
			return f.beside(func(ctx context.Context) *http.Request {
				return f.modernRequest(ctx, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
			})
		},
		"a modern call": func(f *rig, _ string) func() {
			return f.beside(func(ctx context.Context) *http.Request {
				return f.modernRequest(ctx, "tools/call", "greet", `"name":"greet","arguments":{"name":"x"}`)
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, log := watching(t, rigOptions{size: 1})
				session := f.initialize()
				if name == "a modern call" {
					f.servers[0].freeze() // the others stand before
				}
				leave := begin(f, session)
				f.servers[0].freeze()
				time.Sleep(27 * time.Second)
				u := f.pool.Find("a")
				if got := u.State(); got.Name != health.StateSilent {
					t.Errorf("after 27 s: got %v", got)
				}
				time.Sleep(time.Minute)
				f.servers[0].inject(nil)
				time.Sleep(2 * time.Second)
				if u.Silent() {
					t.Error("silent, though it answers")
				}
				got := log.String()
				if strings.Count(got, "upstream does not answer") != 1 || strings.Count(got, "upstream answers again") != 1 {
					t.Errorf("got log\n%s\nwant one line of its silence and one of the end", got)
				}
				leave()
			})
		})
	}
}

// Clients with less patience than berth leave before anything times out, each of them.
func TestFrozenInstanceShowsByWhoLeavesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := watching(t, rigOptions{size: 1})
		f.servers[0].freeze()
		leave := f.beside(func(ctx context.Context) *http.Request { return f.modernRequest(ctx, "tools/list", "", "") })
		time.Sleep(3 * time.Second)
		leave()
		time.Sleep(7 * time.Second)
		if !f.pool.Find("a").Silent() {
			t.Error("nothing shows")
		}
	})
}

// A tool that thinks is no silence of its server's. That is asked in the session of the call,
// so that no session is opened by it, and not more often than need be.
func TestSlowToolIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := watching(t, rigOptions{size: 1})
		session := f.initialize()
		var signs, strange atomic.Int64
		f.servers[0].inject(func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
			if methodIn(body) == "ping" {
				signs.Add(1)
				if r.Header.Get("Mcp-Session-Id") != session || r.Header.Get("Last-Event-ID") != "" {
					strange.Add(1)
				}
			}
			return false
		})
		for range 20 {
			defer f.beside(func(ctx context.Context) *http.Request {
				return f.legacyRequest(ctx, session, "tools/call", slowCompute(600))
			})()
		}
		time.Sleep(5 * time.Minute)
		if got := signs.Load(); got < 10 || got > 40 || strange.Load() != 0 {
			t.Errorf("got %d signs in 5 min for 20 calls, %d of them out of the session, want about one in 10 s", got, strange.Load())
		}
		if log.String() != "" {
			t.Errorf("logged %s", log.String())
		}
	})
}

// What was sent for a standing stream is not kept for it: a sign of life is asked for with the client's headers all the same, in its session.
func TestSignOfLifeOfAStandingStreamIsItsClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := watching(t, rigOptions{size: 1})
		session := f.initialize()
		var asked atomic.Pointer[http.Request]
		f.servers[0].inject(func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
			if methodIn(body) == "ping" {
				asked.Store(r.Clone(context.Background()))
			}
			return false
		})
		defer f.beside(func(ctx context.Context) *http.Request {
			return f.request(ctx, http.MethodGet, "", append(legacyHeader(session), "Authorization", "Bearer x", "Last-Event-ID", "7")...)
		})()
		time.Sleep(25 * time.Second)
		r := asked.Load()
		if r == nil {
			t.Fatal("nobody was asked")
		}
		h := r.Header
		if h.Get("Mcp-Session-Id") != session || h.Get("Authorization") != "Bearer x" || h.Get("X-Forwarded-For") == "" || h.Get("Last-Event-ID") != "" {
			t.Errorf("got %v, want the client's headers", h)
		}
	})
}

// A modern server is asked in the terms of its era.
func TestSignOfLifeIsOfTheCallsEra(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := watching(t, rigOptions{size: 1})
		leave := f.beside(func(ctx context.Context) *http.Request {
			return f.modernRequest(ctx, "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
		})
		defer leave()
		var asked atomic.Pointer[string]
		f.servers[0].inject(func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
			var m struct {
				Params struct {
					Meta map[string]json.RawMessage `json:"_meta"`
				}
			}
			_ = json.Unmarshal(body, &m)
			said := methodIn(body) + " " + r.Header.Get("Mcp-Method") + " " + r.Header.Get("MCP-Protocol-Version") + " " + string(m.Params.Meta["io.modelcontextprotocol/protocolVersion"])
			asked.Store(&said)
			return false
		})
		time.Sleep(25 * time.Second)
		if got := asked.Load(); got == nil || *got != `server/discover server/discover 2026-07-28 "2026-07-28"` {
			t.Errorf("got %v", got)
		}
	})
}

// A stream's body is closed by whoever reads it, and by whoever sent for it: the second time
// panicked once the stream was over.
func TestStreamEndsUnderAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, log := watching(t, rigOptions{size: 1})
		f.servers[0].inject(onMethod("tools/call", say(eventsType, doneEvent)))
		for _, era := range []string{"modern", "legacy"} {
			if r := f.do(f.call(era)); r.body != doneEvent {
				t.Errorf("%s: got %v", era, r)
			}
		}
		if log.String() != "" {
			t.Errorf("logged %s", log.String())
		}
	})
}
