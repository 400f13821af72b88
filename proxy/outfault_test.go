package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/demo/fleet"
	"berth/routing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestOutUnboundWorkMovesOnFromARefusedConnection(t *testing.T) {
	f := newOutFleet(t, outOptions{tcp: true})
	f.servers[0].kill()
	r := f.modern("tools/call", "who", `"name":"who"`)
	if m := r.message(t); r.status != http.StatusOK || m.Result.StructuredContent.Instance != "b" {
		t.Errorf("got %d %s, want b's answer", r.status, r.body)
	}
	f.servers[1].kill()
	f.servers[2].kill()
	f.modern("tools/call", "who", `"name":"who"`).fails(t, http.StatusServiceUnavailable, -31503, "no_upstream", true)
}

// What breaks after the request was written may have run. Not even a client's
// Idempotency-Key, on which net/http would send it again, makes berth repeat it.
func TestOutToolIsNotRunTwiceWhenTheConnectionBreaks(t *testing.T) {
	for _, header := range [][]string{nil, {"Idempotency-Key", "k-1"}, {"X-Idempotency-Key", "k-1"}} {
		t.Run(strings.Join(header, " "), func(t *testing.T) {
			f := newOutFleet(t, outOptions{tcp: true})
			f.modern("tools/call", "who", `"name":"who"`) // leaves a connection that is kept
			f.servers[0].inject(outReset)
			before := f.calls("tools/call")
			r := f.modern("tools/call", "who", `"name":"who"`, header...)
			r.fails(t, http.StatusBadGateway, -32603, "upstream_reset", false)
			if n := f.calls("tools/call") - before; n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

func TestOutPureReadMovesOnWhenTheConnectionBreaks(t *testing.T) {
	f := newOutFleet(t, outOptions{tcp: true})
	f.servers[0].inject(outReset)
	if r := f.modern("tools/list", "", ""); r.message(t).Result == nil || f.servers[1].Calls("tools/list") != 1 {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

func TestOutPollIsRepeatedOnceAtItsOwner(t *testing.T) {
	f := newOutFleet(t, outOptions{tcp: true})
	id := f.newTask(0)
	f.servers[0].inject(outOnce(outReset))
	if r := f.poll(id); r.message(t).Result == nil || r.message(t).Result.StatusMessage != "" {
		t.Errorf("got %d %s, want the owner's answer", r.status, r.body)
	}
	if own, all := f.servers[0].Calls("tasks/get"), f.calls("tasks/get"); own != 2 || all != 2 {
		t.Errorf("%d polls at the owner, %d in all, want 2 and 2", own, all)
	}
	f.servers[0].inject(outReset)
	f.poll(id, "Authorization", "Bearer other").fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
	if n := f.calls("tasks/get"); n != 4 {
		t.Errorf("%d polls in all, want 4: the repetition happens once", n)
	}
}

// An update is no read: what may have arrived is not sent again.
func TestOutUpdateIsNotRepeated(t *testing.T) {
	f := newOutFleet(t, outOptions{tcp: true})
	id := f.newTask(0)
	f.servers[0].inject(outReset)
	f.modern("tasks/update", id, outID(id)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
	if n := f.calls("tasks/update"); n != 1 {
		t.Errorf("%d updates, want 1", n)
	}
}

// outBroken are answers to a tool call that nobody can understand, or not all
// readers alike. withdrawn is the id that berth asks the upstream to give up.
var outBroken = []struct{ name, contentType, body, withdrawn string }{
	{"cut off", outJSON, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1"`, "t-1"},
	{"not JSON", outJSON, `<html>busy</html>`, ""},
	{"another type", "text/html", `<html>busy</html>`, ""},
	{"empty", outJSON, ``, ""},
	{"no type", "", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1"}}`, ""},
	{"two task ids", outJSON, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1","taskId":"t-2"}}`, "t-1"},
	{"two task ids, core", outJSON, `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t-1","taskId":"t-2"}}}`, "t-1"},
	{"two results", outJSON, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1"},"result":{}}`, "t-1"},
	{"two values", outJSON, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1"}}{}`, "t-1"},
	{"event cut off", outSSE, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":\"t-1\"\n\n", "t-1"},
	{"event with two task ids", outSSE, "id: 1\ndata:\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":\"t-1\",\"taskId\":\"t-2\"}}\n\n", "t-1"},
	{"long event with two task ids", outSSE, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":\"t-1\",\"taskId\":\"t-2\",\"x\":\"" + strings.Repeat("x", 600<<10) + "\"}}\n\n", "t-1"},
}

func TestOutBrokenAnswerToAToolCallIsWithheld(t *testing.T) {
	for _, era := range []string{"modern", "legacy"} {
		for _, c := range outBroken {
			t.Run(era+" "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newOutFleet(t, outOptions{})
					f.servers[0].inject(outOn("tools/call", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
						if c.contentType == "" {
							w.Header()["Content-Type"] = nil
							_, _ = io.WriteString(w, c.body)
							return true
						}
						return outSay(c.contentType, c.body)(w, r, body)
					}))
					r := f.do(f.call(era))
					status := http.StatusBadGateway
					if c.contentType == outSSE {
						status = http.StatusOK
					}
					r.fails(t, status, -32603, "bad_upstream_response", false)
					if strings.Contains(r.body, "t-1") || string(r.message(t).ID) != "1" {
						t.Errorf("got %s, want nothing of the answer, and the call's id", r.body)
					}
					if f.owner("t-1") != "" || f.owner("t-2") != "" {
						t.Error("bound all the same")
					}
					want := 0
					if c.withdrawn != "" {
						want = 1
					}
					if n := f.servers[0].Calls("tasks/cancel"); n != want {
						t.Errorf("%d cancellations, want %d", n, want)
					}
					if got := f.servers[0].LastHeader("tasks/cancel").Get("Mcp-Name"); era == "modern" && got != c.withdrawn {
						t.Errorf("cancelled %q, want %q", got, c.withdrawn)
					}
				})
			})
		}
	}
}

// A broken answer to a poll is as bad, but the task must not pay for it.
func TestOutBrokenAnswerToAPollDoesNotCancelTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		id := f.newTask(3600)
		f.servers[0].inject(outOn("tasks/get", outSay(outJSON, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"`+id+`","status":"working"`)))
		f.poll(id).fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
		if n := f.calls("tasks/cancel"); n != 0 {
			t.Errorf("%d cancellations", n)
		}
	})
}

// The first owner wins. The second handle of the same id never reaches a client.
func TestOutTaskIDOfAnotherOwnerIsWithheld(t *testing.T) {
	for _, c := range outAnswers {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reader := sdkmetric.NewManualReader()
				f := newOutFleet(t, outOptions{picker: new(routing.RoundRobin), meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
				for _, s := range f.servers {
					s.inject(outOn("tools/call", outSay(c.contentType, c.body)))
				}
				f.do(f.call(c.method))
				r := f.do(f.call(c.method))
				status := http.StatusBadGateway
				if c.contentType == outSSE {
					status = http.StatusOK
				}
				r.fails(t, status, -32603, "task_id_collision", false)
				if got := f.owner("t-1"); got != "a" {
					t.Errorf("owner is %q, want the first, a", got)
				}
				if n := f.servers[1].Calls("tasks/cancel"); n != 1 || f.calls("tasks/cancel") != 1 {
					t.Errorf("%d cancellations at the second, %d in all, want 1 and 1", n, f.calls("tasks/cancel"))
				}
				if n := outCounted(t, reader, "berth.bindings", "outcome", "collision"); n != 1 {
					t.Errorf("%d collisions counted, want 1", n)
				}
				f.do(f.call(c.method))
				if r := f.do(f.call(c.method)); r.status != http.StatusOK || r.body != c.body {
					t.Errorf("the owner itself got %d %s when it repeated the handle", r.status, r.body)
				}
			})
		})
	}
}

// outCounted returns a counter's value for one attribute.
func outCounted(t *testing.T, reader sdkmetric.Reader, name, key, value string) int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	var n int64
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok || m.Name != name {
				continue
			}
			for _, point := range sum.DataPoints {
				if got, _ := point.Attributes.Value(attribute.Key(key)); got.AsString() == value {
					n += point.Value
				}
			}
		}
	}
	return n
}

// The owner was restarted: it knows best, and says so in its own words.
func TestOutOwnersDenialDropsTheRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		id := f.newTask(3600)
		f.poll(id)
		f.servers[0].Restart()
		r := f.poll(id)
		if m := r.message(t); r.status != http.StatusOK || m.Error == nil || m.Error.Code != -32602 || !strings.Contains(r.body, "Failed to retrieve task") {
			t.Errorf("got %d %s, want the owner's own words", r.status, r.body)
		}
		if got := f.owner(id); got != "" {
			t.Errorf("still bound to %s", got)
		}
		if r := f.poll(id); r.message(t).Error.Code != -32602 {
			t.Errorf("afterwards got %s", r.body)
		}
	})
}

// An end that was seen stands, whatever its owner forgot.
func TestOutOwnersDenialDoesNotUndoAnEnd(t *testing.T) {
	for _, sse := range []bool{false, true} {
		t.Run(fmt.Sprintf("sse=%v", sse), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOutFleet(t, outOptions{server: func(s *fleet.Server) { s.SSE = sse }})
				id, core := f.newTask(0), f.newCoreTask("", 0)
				time.Sleep(time.Second)
				poll, result := f.poll(id), f.legacy("", "tasks/result", outID(core))
				f.servers[0].Restart()
				if got := f.poll(id); got.message(t).Result == nil || got.message(t).Result.Status != "completed" {
					t.Errorf("poll got %s, before it was %s", got.body, poll.body)
				}
				if got := f.legacy("", "tasks/result", outID(core)); got.message(t).Result == nil {
					t.Errorf("tasks/result got %s, before it was %s", got.body, result.body)
				}
			})
		})
	}
}

func TestOutRedirectIsNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			http.Redirect(w, r, "http://b/mcp", http.StatusTemporaryRedirect)
			return true
		})
		f.modern("tools/call", "who", `"name":"who"`).fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
		if n := f.servers[1].Calls("tools/call"); n != 0 {
			t.Errorf("followed %d times", n)
		}
	})
}

func TestOutRefusalsOfTheUpstreamPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOutFleet(t, outOptions{})
		for status, header := range map[int]string{
			http.StatusUnauthorized: "Www-Authenticate", http.StatusForbidden: "X-Why", http.StatusTooManyRequests: "Retry-After",
		} {
			f.servers[0].inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				w.Header().Set(header, "17")
				http.Error(w, "no", status)
				return true
			})
			r := f.modern("tools/call", "who", `"name":"who"`)
			if r.status != status || r.body != "no\n" || r.header.Get(header) != "17" {
				t.Errorf("%d: got %d %q %v", status, r.status, r.body, r.header)
			}
		}
	})
}

// Without the store nobody can say that an id does not exist.
func TestOutUnknownIsNeverSaidWithoutTheStore(t *testing.T) {
	f := newOutFleet(t, outOptions{tcp: true, store: outStore(t, "redis://127.0.0.1:1/0")})
	f.poll("nobodys").fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
	if n := f.calls("tasks/get"); n != 3 {
		t.Errorf("the fleet was asked %d times, want 3", n)
	}
	id := f.newTask(0)
	if r := f.poll(id); r.message(t).Result == nil {
		t.Errorf("a task made without the store: %d %s", r.status, r.body)
	}
}

// A poll that is refused for other reasons says nothing about the task.
func TestOutRefusalIsNoDenial(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newOutFleet(t, outOptions{})
				f.servers[1].inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
					w.Header().Set("Content-Type", outJSON)
					w.WriteHeader(status)
					_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32602,"message":"no"}}`)
					return true
				})
				f.poll("nobodys").fails(t, http.StatusServiceUnavailable, -31503, "fleet_incomplete", true)
			})
		})
	}
}
