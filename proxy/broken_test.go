package proxy_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/realtest"
	"berth/proxy"
	"berth/routing"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// brokenAnswers are answers to a tool call that nobody can understand, or not all
// readers alike. withdrawn is the id that berth asks the upstream to give up.
var brokenAnswers = []struct{ name, contentType, body, withdrawn string }{
	{"cut off", jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1"`, "t-1"},
	{"not JSON", jsonType, `<html>busy</html>`, ""},
	{"another type", "text/html", `<html>busy</html>`, ""},
	{"empty", jsonType, ``, ""},
	{"no type", "", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1"}}`, ""},
	{"two task ids", jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1","taskId":"t-2"}}`, "t-1"},
	{"two task ids, core", jsonType, `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t-1","taskId":"t-2"}}}`, "t-1"},
	{"two results", jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1"},"result":{}}`, "t-1"},
	{"two values", jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1"}}{}`, "t-1"},
	{"event cut off", eventsType, ": hello\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":\"t-1\"\n\n", "t-1"},
	{"event with two task ids", eventsType, "id: 1\ndata:\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":\"t-1\",\"taskId\":\"t-2\"}}\n\n", "t-1"},
	{"long event with two task ids", eventsType, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":\"t-1\",\"taskId\":\"t-2\",\"x\":\"" + strings.Repeat("x", 600<<10) + "\"}}\n\n", "t-1"},
}

func TestBrokenAnswerToAToolCallIsWithheld(t *testing.T) {
	for _, era := range []string{"modern", "legacy"} {
		for _, c := range brokenAnswers {
			t.Run(era+" "+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newRig(t, rigOptions{})
					f.servers[0].inject(onMethod("tools/call", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
						if c.contentType == "" {
							w.Header()["Content-Type"] = nil
							_, _ = io.WriteString(w, c.body)
							return true
						}
						return say(c.contentType, c.body)(w, r, body)
					}))
					r := f.do(f.call(era))
					status := http.StatusBadGateway
					if c.contentType == eventsType {
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
func TestBrokenAnswerToAPollDoesNotCancelTheTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(3600)
		f.servers[0].inject(onMethod("tasks/get", say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"`+id+`","status":"working"`)))
		f.poll(id).fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
		if n := f.calls("tasks/cancel"); n != 0 {
			t.Errorf("%d cancellations", n)
		}
	})
}

// The first owner wins. The second handle of the same id never reaches a client.
func TestTaskIDOfAnotherOwnerIsWithheld(t *testing.T) {
	for _, c := range creations {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reader := sdkmetric.NewManualReader()
				journal := new(realtest.Journal)
				f := newRig(t, rigOptions{picker: new(routing.RoundRobin), meter: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), options: func(o *proxy.Options) {
					o.Logger = slog.New(slog.NewTextHandler(journal, nil))
				}})
				for _, s := range f.servers {
					s.inject(onMethod("tools/call", say(c.contentType, c.body)))
				}
				f.do(f.call(c.method))
				r := f.do(f.call(c.method))
				status := http.StatusBadGateway
				if c.contentType == eventsType {
					status = http.StatusOK
				}
				r.fails(t, status, -32603, "task_id_collision", false)
				if got := f.owner("t-1"); got != "a" {
					t.Errorf("owner is %q, want the first, a", got)
				}
				if n := f.servers[1].Calls("tasks/cancel"); n != 1 || f.calls("tasks/cancel") != 1 {
					t.Errorf("%d cancellations at the second, %d in all, want 1 and 1", n, f.calls("tasks/cancel"))
				}
				if n := sumOf(t, reader, "berth.bindings", "outcome", "collision"); n != 1 {
					t.Errorf("%d collisions counted, want 1", n)
				}
				if want := "upstream=b owner=a task=t-1"; !strings.Contains(journal.String(), want) {
					t.Errorf("the log does not say %q: %s", want, journal.String())
				}
				f.do(f.call(c.method))
				if r := f.do(f.call(c.method)); r.status != http.StatusOK || strings.TrimRight(r.body, "\n") != strings.TrimRight(c.body, "\n") {
					t.Errorf("the owner itself got %d %s when it repeated the handle", r.status, r.body)
				}
			})
		})
	}
}

// A stream that nobody asked anything on is no place for a handle, but an upstream
// may put one there. Giving the task up needs the version that the client speaks;
// berth looked for it in a call, which a GET is not, and panicked.
func TestTaskIDOfAnotherOwnerIsWithheldFromAStandingStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
		const handle = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"t-1","status":"working"}}`
		f.servers[0].inject(onMethod("tools/call", say(jsonType, handle)))
		f.servers[1].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return r.Method == http.MethodGet && say(eventsType, "data: "+handle+"\n\n")(w, r, body)
		})
		f.modern("tools/call", "work", `"name":"work"`)
		r := f.do(f.request(t.Context(), http.MethodGet, "", "Mcp-Protocol-Version", "2026-07-28"))
		r.fails(t, http.StatusOK, -32603, "task_id_collision", false)
		if n := f.servers[1].Calls("tasks/cancel"); n != 1 {
			t.Errorf("%d cancellations at the second, want 1", n)
		}
	})
}

// Whoever waits for a response that is withheld is told so under its id, on the stream that it resumed as well, and so are all others to whom the
// stream owes one: nothing comes after it, and clients wait for ever for what does not come.
func TestAWithheldEventIsRefusedUnderItsID(t *testing.T) {
	const handle = `{"jsonrpc":"2.0","id":ID,"result":{"task":{"taskId":"t-1","status":"working"}}}`
	long := `{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 300<<10) + `"}]}}`
	refused := func(r reply) (ids []string) {
		for _, event := range eventsIn(r.body) {
			var m rpcMessage
			if json.Unmarshal([]byte(event), &m) == nil && m.Error != nil {
				ids = append(ids, string(m.ID))
			}
		}
		return ids
	}
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{size: 2, picker: new(routing.RoundRobin), options: func(o *proxy.Options) { o.Limits.Answer = 64 << 10 }})
		f.servers[0].inject(onMethod("tools/call", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			return say(jsonType, withID(handle, body))(w, r, body)
		}))
		events := []string{strings.ReplaceAll(handle, "ID", "7"), long}
		f.servers[1].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if methodIn(body) == "initialize" {
				return false
			}
			event := events[0]
			if r.Method == http.MethodGet {
				events = events[1:]
			}
			return say(eventsType, "id: 3\ndata: "+event+"\n\n")(w, r, body)
		})
		f.do(f.call("legacy")) // a's
		session := f.open(f.request(t.Context(), http.MethodPost, message("initialize", `"protocolVersion":"2025-03-26"`))).Header.Get("Mcp-Session-Id")
		batch := `[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}},{"jsonrpc":"2.0","id":"8","method":"tools/call","params":{"name":"x"}}]`
		if got := refused(f.do(f.request(t.Context(), http.MethodPost, batch, "Mcp-Session-Id", session))); !slices.Equal(got, []string{"7", `"8"`}) {
			t.Errorf("of the calls in a batch %v are refused", got)
		}
		for range 2 {
			get := f.request(t.Context(), http.MethodGet, "", append(legacyHeader(session), "Last-Event-Id", "2")...)
			if got := refused(f.do(get)); !slices.Equal(got, []string{"7"}) {
				t.Errorf("on the stream that goes on %v is refused", got)
			}
		}
	})
}

// A request of the server's that is withheld is no response: its id is told to nobody, who may have asked something under the same one.
func TestAWithheldRequestIsNoResponse(t *testing.T) {
	long := `"` + strings.Repeat("x", 100<<10) + `"`
	for name, said := range map[string]string{
		"a request":                  `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"x":` + long + `}}`,
		"one that names itself last": `{"jsonrpc":"2.0","id":7,"params":{"x":` + long + `},"method":"sampling/createMessage"}`,
		"of which that is not read":  `{"jsonrpc":"2.0","id":7,"params":{"x":"` + strings.Repeat("x", 300<<10) + `"},"method":"sampling/createMessage"}`,
		"a notification":             `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + long + `}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{size: 1, options: func(o *proxy.Options) { o.Limits.Answer = 64 << 10 }})
				session := f.initialize()
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					return r.Method == http.MethodGet && say(eventsType, "data: "+said+"\n\n")(w, r, body)
				})
				r := f.do(f.request(t.Context(), http.MethodGet, "", legacyHeader(session)...))
				if m := r.message(t); m.Error == nil || m.ID != nil {
					t.Errorf("got an answer to %s: %.300s", m.ID, r.body)
				}
			})
		})
	}
}

// sumOf returns a counter's value for one attribute.
func sumOf(t *testing.T, reader sdkmetric.Reader, name, key, value string) int64 {
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
