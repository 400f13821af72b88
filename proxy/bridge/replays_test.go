package bridge

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/proxy/bridge/flow"
)

// resumes reports whether a request goes on with a call's stream.
func resumes(q *http.Request) bool {
	return strings.HasPrefix(q.Header.Get("Last-Event-Id"), "c")
}

// unreplayed are the ways in which servers number events that they do not replay.
var unreplayed = map[string]func(w http.ResponseWriter, q *http.Request){
	"silence": func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-q.Context().Done()
	},
	"an empty stream": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") },
	"another stream": func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "id: own/9\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		_ = http.NewResponseController(w).Flush()
		<-q.Context().Done()
	},
	"405": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) },
	"400": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) },
}

// A call that asks keeps its stream where the server does not replay: no answer is lost, at whichever berth its
// client goes on.
func TestACallKeepsItsStreamWhereNothingIsReplayed(t *testing.T) {
	for how, answers := range unreplayed {
		t.Run(how, func(t *testing.T) {
			u := tool(kind{}, func(k *running) { k.ends(k.ask(), k.ask()) })
			u.faults = func(w http.ResponseWriter, q *http.Request, _ message) bool {
				if resumes(q) {
					answers(w, q)
				}
				return resumes(q)
			}
			bridged(t, u, nil, func(r *rig) {
				f, a, b, _ := r.join(10 * time.Minute)
				for by, passed := range map[*Bridge]int{a: 0, b: 2} {
					f.passed = 0
					began := time.Now()
					first := r.do(asking{name: "asks", by: a})
					if took := time.Since(began); took > time.Second || a.Tied() != 1 {
						t.Errorf("asked after %v, %d tied", took, a.Tied())
					}
					time.Sleep(time.Minute)
					second := r.do(asking{name: "asks", by: by, params: first.answers(accepted)})
					last := r.do(asking{name: "asks", by: by, params: second.answers(accepted)})
					if len(last.Result.Got) != 2 || f.passed != passed || a.Tied() != 0 {
						t.Errorf("got %s, %d passed on, %d tied", last.text, f.passed, a.Tied())
					}
				}
				if n := r.resumptions(); n != 1 {
					t.Errorf("whether it replays was asked %d times", n)
				}
				if status := r.givesUp(r.do(asking{name: "asks", by: a}), asking{by: b}); status != 202 || len(r.told()) != 6 || a.Tied() != 0 {
					t.Errorf("given up elsewhere: %d, told %v, %d tied", status, r.told(), a.Tied())
				}
			})
		})
	}
}

// A server whose first event asks is not asked to replay it: one that gave the stream to who has asked last would say what follows there.
func TestAFirstEventIsNotReplayed(t *testing.T) {
	u := tool(kind{bare: true}, func(k *running) { k.ends(k.ask(), k.ask()) })
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks"})
		if n := r.resumptions(); n != 0 || r.b.Tied() != 1 {
			t.Errorf("asked %d times, %d tied", n, r.b.Tied())
		}
		second := r.do(asking{name: "asks", params: first.answers(accepted)})
		if n := r.resumptions(); n != 1 || r.b.Tied() != 0 {
			t.Errorf("with an event before it: asked %d times, %d tied", n, r.b.Tied())
		}
		if last := r.do(asking{name: "asks", params: second.answers(accepted)}); len(last.Result.Got) != 2 {
			t.Errorf("got %s", last.text)
		}
	})
}

// A server that replays is found out, once for a while: its calls are with nobody while their clients are asked.
func TestACallIsLetGoOfWhereItIsReplayed(t *testing.T) {
	for name, stands := range map[string]bool{"who else reads is refused": true, "it is told again": false} {
		t.Run(name, func(t *testing.T) {
			u := tool(kind{}, func(k *running) {
				k.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
				k.ends(k.ask())
			})
			if !stands {
				u.faults = func(w http.ResponseWriter, q *http.Request, _ message) bool {
					id := q.Header.Get("Last-Event-Id")
					if id != "c1/1" {
						return false
					}
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, "id: c1/2\ndata: {}\n\n")
					return true
				}
			}
			bridged(t, u, nil, func(r *rig) {
				for i, asked := range []int{1, 1, 2} {
					if i == 2 {
						time.Sleep(flow.ReplaysFor)
					}
					first := r.do(asking{name: "asks"})
					if r.b.Tied() != 0 {
						t.Errorf("call %d is tied", i)
					}
					if g := r.do(asking{name: "asks", params: first.answers(accepted)}); len(g.Result.Got) != 1 {
						t.Errorf("got %s", g.text)
					}
					if n := r.sentAfter("/1"); n != asked {
						t.Errorf("whether it replays was asked %d times by call %d", n, i)
					}
				}
			})
		})
	}
}

// What is not known to replay may do so: a stream that breaks while the client is asked, and a berth that is lost, lose nothing
// there.
func TestAKeptCallIsResumedWhereItMayBe(t *testing.T) {
	var k0 *running
	u := tool(kind{}, func(k *running) {
		k0 = k
		k.ends(k.ask())
	})
	var away atomic.Bool // as far as streams go
	u.faults = func(w http.ResponseWriter, q *http.Request, _ message) bool {
		if away.Load() && resumes(q) {
			w.WriteHeader(503)
			return true
		}
		return false
	}
	bridged(t, u, nil, func(r *rig) {
		f, a, b, _ := r.join(10 * time.Minute)
		for _, by := range []*Bridge{a, b} {
			away.Store(true)
			first := r.do(asking{name: "asks", by: a})
			k0.breakOff()
			time.Sleep(2 * time.Minute)
			if away.Store(false); by == b {
				delete(f.berths, "a")
			}
			if g := r.do(asking{name: "asks", by: by, params: first.answers(accepted)}); len(g.Result.Got) != 1 {
				t.Errorf("got %s", g.text)
			}
		}
		given := r.do(asking{name: "asks", by: a})
		if status := r.givesUp(given, asking{by: b}); status != 202 || len(r.told()) != 4 {
			t.Errorf("given up where the berth that asked is lost: %d, told %v", status, r.told())
		}
	})
}

// What is asked on the session's own stream before the call's stream has begun is resumed from where that begins, once the berth is lost
// that asked.
func TestAQuestionBeforeTheCallsStreamOutlivesItsBerth(t *testing.T) {
	for name, of := range map[string]kind{"before": {late: true}, "behind": {}} {
		u := tool(of, func(k *running) {
			first := k.askAside()
			k.ends(first, k.askAside())
		})
		bridged(t, u, nil, func(r *rig) {
			r.keeps = true
			f, a, b, c := r.join(time.Minute)
			first := r.do(asking{name: "asks", by: a})
			delete(f.berths, "a")
			second := r.do(asking{name: "asks", by: b, params: first.answers(accepted)})
			if len(second.Result.Requests) != 1 {
				t.Fatalf("%s: got %s", name, second.text)
			}
			delete(f.berths, "b")
			if last := r.do(asking{name: "asks", by: c, params: second.answers(accepted)}); len(last.Result.Got) != 2 || r.ran() != 1 {
				t.Errorf("%s: got %s, the tool ran %d times", name, last.text, r.ran())
			}
		})
	}
}
