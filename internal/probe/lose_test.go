package probe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/mcptest"
	"berth/internal/memnet"
	"berth/internal/probe"
)

// quick makes tasks that end before they are polled.
func quick(o *probe.Options) { o.Args = json.RawMessage(`{"seconds":0.01}`) }

func TestResultsOfEndedTasksAreAskedFor(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		report := probed(t, &mcptest.Server{Name: "a", Stateless: true}, quick)
		if got := check(t, report, legacy, "results"); got.Asked != 10 || got.Lost != 0 {
			t.Errorf("got %+v, want 10 results, none lost", got)
		}
	})
}

func TestDeniedResultsAndListsThatLackTasksAreLost(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a"}
		s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			var call struct {
				ID     int
				Method string
			}
			_ = json.Unmarshal(body, &call)
			said := map[string]string{
				"tasks/result": `"error":{"code":-32602,"message":"unknown"}`,
				"tasks/list":   `"result":{"tasks":[{"taskId":"another"}]}`,
			}[call.Method]
			if said == "" {
				return false
			}
			answering(200, "Content-Type: application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, call.ID, said))(w, r)
			return true
		}
		report := probed(t, s, quick)
		if results, lists := check(t, report, legacy, "results"), check(t, report, legacy, "lists"); results.Lost != 10 || lists.Lost != 5 {
			t.Errorf("got %+v and %+v, want all lost", results, lists)
		}
	})
}

// What a server dropped when its time was over is not the balancer's loss.
func TestExpiredTasksAreNotLost(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		report := probed(t, &mcptest.Server{Name: "a", TTL: 3 * time.Second, PollInterval: 2 * time.Second})
		got := check(t, report, modern, "polls")
		if got.Expired == 0 || got.Lost != 0 || report.Verdict != probe.Clean {
			t.Errorf("got %v and %+v, want clean, some expired, none lost", report.Verdict, got)
		}
	})
}

// A balancer of connections looks whole to a client that keeps its own.
func TestKeptConnectionShowsABalancerOfConnections(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		var listeners []*memnet.Listener
		for _, name := range []string{"a", "b", "c"} {
			listeners = append(listeners, served(t, name, &mcptest.Server{Name: name}))
		}
		var turn atomic.Int64
		o := options()
		o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return listeners[turn.Add(1)%3].Dial(ctx)
		}
		report := probe.Run(t.Context(), o)
		polls, kept := check(t, report, modern, "polls"), check(t, report, modern, "kept connection")
		if polls.Lost == 0 || kept.Lost != 0 || kept.Asked == 0 {
			t.Errorf("got %+v and on one connection %+v, want losses and none", polls, kept)
		}
		if got := int(turn.Load()); got >= report.Requests {
			t.Errorf("%d connections for %d requests, want one connection for the last ones", got, report.Requests)
		}
	})
}

func TestEachRequestHasItsOwnConnection(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		l := served(t, front, &mcptest.Server{Name: "a"})
		var dialled atomic.Int64
		o := options()
		o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialled.Add(1)
			return l.Dial(ctx)
		}
		if report := probe.Run(t.Context(), o); int(dialled.Load()) != report.Requests {
			t.Errorf("%d connections for %d requests, want as many", dialled.Load(), report.Requests)
		}
	})
}

func TestRequestsArePacedAndComeOneAtATime(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		var under, most atomic.Int64
		s := &mcptest.Server{Name: "a"}
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if n := under.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer under.Add(-1)
			time.Sleep(time.Millisecond)
			s.ServeHTTP(w, r)
		})
		began := time.Now()
		report := probed(t, h, func(o *probe.Options) { o.Rate = 5 })
		if most.Load() > 2 { // a standing stream that was left may end late
			t.Errorf("%d requests at a time", most.Load())
		}
		if least := time.Duration(report.Requests-1) * time.Second / 5; time.Since(began) < least {
			t.Errorf("%d requests took %v, want at least %v", report.Requests, time.Since(began), least)
		}
	})
}

// Without being told, only a tool that says it is harmless is called.
func TestUnnamedToolIsCalledOnlyIfItIsHarmless(t *testing.T) {
	unnamed := func(o *probe.Options) { o.Tool, o.Args = "", nil }
	offers := map[string]struct {
		tool   string
		called bool
	}{
		"harmless":      {`{"name":"slow_compute","annotations":{"readOnlyHint":true},"execution":{"taskSupport":"optional"}}`, true},
		"not annotated": {`{"name":"slow_compute","execution":{"taskSupport":"optional"}}`, false},
		"not read-only": {`{"name":"slow_compute","annotations":{"readOnlyHint":false},"execution":{"taskSupport":"optional"}}`, false},
		"wants arguments": {`{"name":"slow_compute","annotations":{"readOnlyHint":true},"inputSchema":{"required":["seconds"]},` +
			`"execution":{"taskSupport":"required"}}`, false},
	}
	for name, offer := range offers {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				s := &mcptest.Server{Name: "a", Stateless: true}
				s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					if !bytes.Contains(body, []byte("tools/list")) {
						return false
					}
					var call struct{ ID int }
					_ = json.Unmarshal(body, &call)
					answering(200, "Content-Type: application/json", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"tools":[%s]}}`, call.ID, offer.tool))(w, r)
					return true
				}
				report := probed(t, s, unnamed)
				if got := s.Executions() > 0; got != offer.called {
					t.Errorf("called %d times, want called: %v", s.Executions(), offer.called)
				}
				if !offer.called && (report.Verdict != probe.Unknown || skipped(report, modern, "tasks") == "") {
					t.Errorf("got %v, skipped %v, want unknown and why", report.Verdict, report.Skipped)
				}
			})
		})
	}
}

func TestToolThatMakesNoTaskIsCalledOnceAnEra(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a"}
		report := probed(t, s, func(o *probe.Options) { o.Tool, o.Args = "who", nil })
		if got := s.Executions(); got != 2 {
			t.Errorf("called %d times, want once in each era", got)
		}
		if skipped(report, modern, "polls") == "" || report.Verdict != probe.Clean {
			t.Errorf("got %v, skipped %v, want the sessions clean and the polls skipped", report.Verdict, report.Skipped)
		}
	})
}

func TestPrincipalsSeeEachOthersTasks(t *testing.T) {
	two := func(o *probe.Options) {
		o.Principals = []http.Header{{"X-User": {"alice"}}, {"X-User": {"bob"}}}
	}
	inFakeTime(t, func(t *testing.T) {
		report := probed(t, &mcptest.Server{Name: "a"}, two)
		if task, session := check(t, report, modern, "other principal"), check(t, report, legacy, "other principal"); task.Leaked != 3 || session.Leaked != 3 {
			t.Errorf("got %+v and %+v, want all looks leaked", task, session)
		}
		if report.Verdict != probe.Lost {
			t.Errorf("got %v, want lost", report.Verdict)
		}
	})
	inFakeTime(t, func(t *testing.T) {
		s := &mcptest.Server{Name: "a"}
		report := probed(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-User") != "alice" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			s.ServeHTTP(w, r)
		}), two)
		if report.Verdict != probe.Clean || check(t, report, modern, "other principal").Leaked != 0 {
			t.Errorf("got %v, want clean", report.Verdict)
		}
	})
}

func TestSecondAddress(t *testing.T) {
	for _, same := range []bool{true, false} {
		inFakeTime(t, func(t *testing.T) {
			s, second := &mcptest.Server{Name: "a"}, &mcptest.Server{Name: "b"}
			if same {
				second = s
			}
			o := options(served(t, front, s), served(t, "second", second))
			o.Second = "http://second/mcp"
			report := probe.Run(t.Context(), o)
			got := check(t, report, modern, "second address")
			if lost := got.Lost == 10; got.Asked != 10 || lost == same {
				t.Errorf("same=%v: got %+v", same, got)
			}
		})
	}
}
