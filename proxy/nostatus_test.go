package proxy_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/upgrade"
)

// noAnswers are heads of answers that end no exchange. Who passes the first on makes every
// proxy before it believe in a tunnel.
var noAnswers = map[string]string{
	"101": "101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: x\r\n\r\n",
	"099": "099 Low\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
	"000": "000 Nothing\r\nContent-Length: 0\r\n\r\n",
	"600": "600 High\r\nContent-Length: 0\r\n\r\n",
	"999": "999 High\r\nContent-Type: text/event-stream\r\n\r\ndata: {}\r\n\r\n",
	"-12": "-12 Negative\r\nContent-Length: 0\r\n\r\n",
}

// saysHead answers with a head of no status, and counts the connections that were closed
// for it: nothing comes after it.
func saysHead(head string, closed *atomic.Int64) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 "+head)
		if n, err := conn.Read(make([]byte, 1)); n == 0 && err != nil {
			closed.Add(1)
		}
		return true
	}
}

// A client of every kind hears that its upstream's answer cannot be used, also where
// another upstream would have answered, or the last state of its task is known.
func TestStatusThatEndsNoExchangeReachesNobody(t *testing.T) {
	for name, head := range noAnswers {
		for way, ask := range map[string]func(f *rig, session, task, core string) *http.Request{
			"modern call": func(f *rig, _, _, _ string) *http.Request {
				return f.modernRequest(f.t.Context(), "tools/call", "who", `"name":"who"`)
			},
			"list": func(f *rig, _, _, _ string) *http.Request {
				return f.modernRequest(f.t.Context(), "tools/list", "", "")
			},
			"poll": func(f *rig, _, task, _ string) *http.Request {
				return f.modernRequest(f.t.Context(), "tasks/get", task, byID(task))
			},
			"cancel": func(f *rig, _, task, _ string) *http.Request {
				return f.modernRequest(f.t.Context(), "tasks/cancel", task, byID(task))
			},
			"update": func(f *rig, _, task, _ string) *http.Request {
				return f.modernRequest(f.t.Context(), "tasks/update", task, byID(task)+`,"inputResponses":{}`)
			},
			"subscription": func(f *rig, _, task, _ string) *http.Request {
				return f.modernRequest(f.t.Context(), "subscriptions/listen", "", `"notifications":`+tasksFilter("", task))
			},
			"any subscription": func(f *rig, _, _, _ string) *http.Request {
				return f.modernRequest(f.t.Context(), "subscriptions/listen", "", `"notifications":{"toolsListChanged":true}`)
			},
			"initialize": func(f *rig, _, _, _ string) *http.Request {
				return f.legacyRequest(f.t.Context(), "", "initialize", `"protocolVersion":"2025-11-25"`)
			},
			"legacy call": func(f *rig, s, _, _ string) *http.Request {
				return f.legacyRequest(f.t.Context(), s, "tools/call", `"name":"who"`)
			},
			"core poll": func(f *rig, s, _, core string) *http.Request {
				return f.legacyRequest(f.t.Context(), s, "tasks/get", byID(core))
			},
			"core result": func(f *rig, s, _, core string) *http.Request {
				return f.legacyRequest(f.t.Context(), s, "tasks/result", byID(core))
			},
			"core list": func(f *rig, s, _, _ string) *http.Request { return f.legacyRequest(f.t.Context(), s, "tasks/list", "") },
			"list of a fleet": func(f *rig, _, _, _ string) *http.Request {
				return f.legacyRequest(f.t.Context(), "", "tasks/list", "")
			},
			"GET": func(f *rig, s, _, _ string) *http.Request {
				return f.request(f.t.Context(), http.MethodGet, "", legacyHeader(s)...)
			},
			"DELETE": func(f *rig, s, _, _ string) *http.Request {
				return f.request(f.t.Context(), http.MethodDelete, "", legacyHeader(s)...)
			},
			"well-known": func(f *rig, _, _, _ string) *http.Request {
				r := f.request(f.t.Context(), http.MethodGet, "")
				r.URL.Path = "/.well-known/oauth-protected-resource/mcp"
				return r
			},
			"OPTIONS": func(f *rig, _, _, _ string) *http.Request { return f.request(f.t.Context(), http.MethodOptions, "") },
		} {
			t.Run(name+" "+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newRig(t, rigOptions{})
					session, task := f.initialize(), f.newTask(3600)
					core := f.newCoreTask(session, 3600)
					f.poll(task)
					var closed atomic.Int64
					f.servers[0].inject(saysHead(head, &closed))
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					r := f.do(ask(f, session, task, core).WithContext(ctx))
					r.fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
					if r.header.Get("Upgrade")+r.header.Get("Sec-WebSocket-Accept") != "" {
						t.Errorf("got %v", r.header)
					}
					synctest.Wait()
					if f.servers[0].inject(nil); closed.Load() == 0 {
						t.Error("the connection is kept")
					}
					if r := f.legacy("", "ping", ""); r.status != http.StatusOK {
						t.Errorf("afterwards: got %v", r)
					}
				})
			})
		}
	}
}

// A held call of which nobody knows what it did fails, and says so.
func TestStatusThatEndsNoExchangeFailsAHeldCall(t *testing.T) {
	for name, head := range noAnswers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var closed atomic.Int64
				f := newUpgraded(t, rigOptions{}, nil)
				f.answers(saysHead(head, &closed))
				v := f.reaches(f.made(), "failed")
				if e := string(v.Error); !strings.Contains(e, `"reason":"bad_upstream_response"`) || !strings.Contains(e, `"mayHaveExecuted":true`) {
					t.Errorf("got %s", e)
				}
				synctest.Wait() // the connection's end is its server's to see
				if n := len(f.seen.of("tools/call")); n != 1 || closed.Load() != 1 {
					t.Errorf("called %d times, %d connections closed", n, closed.Load())
				}
			})
		})
	}
}

// Who still waits for the answer itself is told at once.
func TestStatusThatEndsNoExchangeOfAnAttendedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int64
		f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.After = 2 * time.Second })
		f.answers(saysHead(noAnswers["101"], &closed))
		f.callTool().fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
	})
}

// The question about a task that an upstream made itself may go wrong for a while, not for
// as long as the call may take.
func TestStatusThatEndsNoExchangeOfAFollowedTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int64
		f := newUpgraded(t, rigOptions{}, nil)
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			switch methodIn(body) {
			case "tools/call":
				return sayResult(`{"resultType":"task","taskId":"theirs","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":60000}`)(w, r, body)
			case "tasks/get":
				return saysHead(noAnswers["101"], &closed)(w, r, body)
			}
			return false
		})
		id := f.made()
		time.Sleep(10 * time.Minute)
		if v := f.look(id); v.Status != "failed" || !strings.Contains(string(v.Error), "bad_upstream_response") {
			t.Errorf("got %+v", v)
		}
	})
}

// The fleet is asked about an unknown id: who answers so has not said whether he knows it.
func TestStatusThatEndsNoExchangeIsNoDenial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int64
		f := newRig(t, rigOptions{})
		f.servers[1].inject(saysHead(noAnswers["101"], &closed))
		f.poll("nonesuch").fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
		if synctest.Wait(); closed.Load() == 0 {
			t.Error("the connection is kept")
		}
	})
}

// It is as bad as a gateway's 502: an upstream that says nothing else gets no new work.
func TestStatusThatEndsNoExchangeCountsAgainstTheUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int64
		f := newRig(t, rigOptions{})
		f.servers[0].inject(saysHead(noAnswers["101"], &closed))
		for range 20 {
			if f.modern("tools/list", "", "").status == http.StatusOK {
				return
			}
		}
		t.Error("work goes there for ever")
	})
}

// Neither does a ping take it for a word, nor the probe of a silent upstream.
func TestStatusThatEndsNoExchangeIsNoSignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var closed atomic.Int64
		f := newRig(t, rigOptions{size: 1})
		f.servers[0].inject(saysHead(noAnswers["101"], &closed))
		u := f.pool.Upstreams()[0]
		if err := outbound.To(&proxy.Endpoint{Client: f.outbound}).Ping(t.Context(), u, ""); err == nil {
			t.Error("pinged")
		}
		if err := outbound.Probe(f.outbound)(t.Context(), u); err == nil {
			t.Error("probed")
		}
	})
}

// What concerns one connection is no part of an answer, whatever its status, and no part
// of a request.
func TestOffersToUpgradeAreNobodysElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{picker: new(routing.RoundRobin), size: 1})
		asked := make(chan http.Header, 1)
		for _, c := range []struct {
			status int
			kind   string
		}{{200, jsonType}, {200, eventsType}, {200, "text/html"}, {426, jsonType}, {204, ""}} {
			for _, path := range []string{"/mcp", "/.well-known/oauth-protected-resource/mcp"} {
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					asked <- r.Header.Clone()
					w.Header().Set("Connection", "upgrade, x-own")
					w.Header().Set("X-Own", "1")
					w.Header().Set("Upgrade", "websocket")
					return sayStatus(c.status, c.kind, `{"jsonrpc":"2.0","id":1,"result":{}}`)(w, r, body)
				})
				r := f.request(t.Context(), http.MethodGet, "", "Connection", "Upgrade", "Upgrade", "websocket", "Http2-Settings", "AAMAAABk")
				r.URL.Path = path
				got := f.do(r)
				for _, name := range []string{"Upgrade", "Connection", "X-Own"} {
					if got.header.Get(name) != "" {
						t.Errorf("%d %s: %s reached the client: %v", c.status, c.kind, name, got.header)
					}
				}
				header := <-asked
				for _, name := range []string{"Upgrade", "Connection", "Http2-Settings"} {
					if header.Get(name) != "" {
						t.Errorf("%s went upstream: %v", name, header)
					}
				}
			}
		}
	})
}
