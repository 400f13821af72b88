package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcp"
	"berth/proxy"
	"berth/proxy/outbound"
	"berth/routing"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// anothers answers under another request's id; with own, on an event stream that bears the
// right answer after it.
func anothers(outcome, own string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		wrong := `{"jsonrpc":"2.0","id":"anothers",` + outcome + `}`
		if own == "" {
			return say(jsonType, wrong)(w, r, body)
		}
		return say(eventsType, "data: "+wrong+"\n\ndata: "+response(body, own)+"\n\n")(w, r, body)
	}
}

// counting is rigOptions with a reader of what is counted.
func counting(o rigOptions) (rigOptions, *sdkmetric.ManualReader) {
	reader := sdkmetric.NewManualReader()
	o.meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	o.options = func(p *proxy.Options) { p.Meter = o.meter }
	return o, reader
}

// spelt answers as what says, under the id of the request, whose first letter it spells otherwise.
func spelt(says string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		id := strings.Replace(string(mcp.ID(body)), `"b`, `"\u0062`, 1)
		return say(jsonType, `{"jsonrpc":"2.0","id":`+id+`,`+says+`}`)(w, r, body)
	}
}

// What answers another request says nothing of the question that berth has asked: the
// fleet's word on an unknown id.
func TestCrossedWordOnATaskIsNone(t *testing.T) {
	knows := `"result":{"resultType":"complete","taskId":"t-1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null}`
	denies := `"error":{"code":-32602,"message":"no such task"}`
	for name, c := range map[string]struct {
		fault  faultFunc
		status int
		says   string // -31503: part of the fleet did not say
	}{
		"another's knowledge":                  {anothers(knows, ""), 503, "-31503"},
		"another's denial":                     {anothers(denies, ""), 503, "-31503"},
		"another's knowledge, then the denial": {anothers(knows, denies), 200, "-32602"},
		"another's denial, then the knowledge": {anothers(denies, knows), 200, "the owner says"},
		"no id":                                {say(jsonType, `{"jsonrpc":"2.0",`+knows+`}`), 503, "-31503"},
		"an error of nobody's":                 {say(jsonType, `{"jsonrpc":"2.0","id":null,`+denies+`}`), 200, "-32602"},
		"its id, spelt otherwise":              {spelt(denies), 200, "-32602"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, reader := counting(rigOptions{})
				f := newRig(t, o)
				f.servers[1].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					if !strings.Contains(string(body), `"berth-`) {
						return sayError(`{"code":-32000,"message":"the owner says"}`)(w, r, body)
					}
					return c.fault(w, r, body)
				})
				if r := f.poll("t-1"); r.status != c.status || !strings.Contains(r.body, c.says) {
					t.Errorf("got %v; want %d, %s", r, c.status, c.says)
				}
				crossed := int64(0)
				if strings.Contains(name, "another's") || name == "no id" {
					crossed = 1
				}
				if n := sumOf(t, reader, "berth.crossed_answers", "upstream", "b"); n != crossed {
					t.Errorf("%d counted, want %d", n, crossed)
				}
			})
		})
	}
}

// Nor on a session: a ping that another one's answer comes back to is not answered.
func TestCrossedWordOnASessionIsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		for _, s := range f.servers {
			s.inject(onMethod("ping", anothers(`"result":{}`, "")))
		}
		f.legacy("nobodys", "tools/list", "").fails(t, 503, -31503, "owner_unavailable", true)
		for _, s := range f.servers {
			s.inject(onMethod("ping", say(eventsType, "data: {\"jsonrpc\":\"2.0\",\"id\":\"anothers\",\"result\":{}}\n\n")))
		}
		f.legacy("nobodys", "tools/list", "").fails(t, 503, -31503, "owner_unavailable", true)
		for _, s := range f.servers {
			s.inject(onMethod("ping", anothers(`"result":{}`, `"result":{}`)))
		}
		if r := f.legacy("nobodys", "tools/list", ""); r.code() == -31503 {
			t.Errorf("the right answer is not waited for: %v", r)
		}
	})
}

// A page of a list that answers another question is none.
func TestCrossedPagesAreNone(t *testing.T) {
	const foreign = `"result":{"tasks":[{"taskId":"foreign","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}]}`
	synctest.Test(t, func(t *testing.T) {
		o, reader := counting(rigOptions{picker: new(routing.RoundRobin)})
		f := newRig(t, o)
		f.servers[1].inject(onList(anothers(foreign, "")))
		f.legacy("", "tasks/list", "").fails(t, 502, -32603, "bad_upstream_response", false)
		f.servers[1].inject(onList(anothers(foreign, `"result":{"tasks":[]}`)))
		if r := f.legacy("", "tasks/list", ""); r.status != 200 || strings.Contains(r.body, "foreign") {
			t.Errorf("got %v", r)
		}
		if n := sumOf(t, reader, "berth.crossed_answers", "upstream", "b"); n != 2 {
			t.Errorf("%d counted, want 2", n)
		}
	})
}

// What tools say of tasks is read in the answer to the question after it.
func TestCrossedListsOfToolsAreNone(t *testing.T) {
	const forbids = `"result":{"tools":[{"name":"work","execution":{"taskSupport":"forbidden"}}]}`
	for name, c := range map[string]struct {
		fault faultFunc
		means string
	}{
		"another's":               {anothers(forbids, ""), ""},
		"another's, then its own": {anothers(forbids, `"result":{"tools":[{"name":"work","execution":{"taskSupport":"required"}}]}`), "required"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newPartial(t, c.fault)
				r := f.callAsTask(`{}`)
				if made := strings.Contains(r.body, `"task":{`); made != (c.means == "") {
					t.Errorf("a task of berth's own: %v, got %v", made, r)
				}
			})
		})
	}
}

// A session is not opened anew by an answer to something else.
func TestCrossedHandshakeOpensNoSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, reinit(rigOptions{size: 2}))
		session := f.initialize()
		f.lose(f.servers[0])
		f.servers[1].inject(onMethod("initialize", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			w.Header().Set("Mcp-Session-Id", "theirs")
			return anothers(`"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`, "")(w, r, body)
		}))
		if r := f.legacy(session, "tools/list", ""); r.status != http.StatusNotFound {
			t.Errorf("got %v, want the session's end", r)
		}
	})
}

// crossing is the stream of a subscription that says things to other requests first.
func crossing(agrees string) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		var m struct{ ID json.RawMessage }
		_ = json.Unmarshal(body, &m)
		return streams(func(ctx context.Context, write func(string)) {
			write("data: " + `{"jsonrpc":"2.0","id":"anothers","result":{"resultType":"complete"}}` + "\n\n")
			write("data: " + `{"jsonrpc":"2.0","id":"anothers","error":{"code":-32603,"message":"no"}}` + "\n\n")
			write("data: " + `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"anothers"},"notifications":{}}}` + "\n\n")
			write("data: " + `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(m.ID) + `},"notifications":` + agrees + `}}` + "\n\n")
			time.Sleep(time.Second)
			write("data: " + `{"jsonrpc":"2.0","id":"anothers","result":{"resultType":"complete"}}` + "\n\n")
			write("data: " + `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(m.ID) + `}}}` + "\n\n")
			<-ctx.Done()
		})(w, r, body)
	}
}

// Neither refusals nor ends of other subscriptions are a leg's, nor is their acknowledgement.
func TestCrossedAnswersOnASubscriptionAreDropped(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprintf("shared %v", shared), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, reader := counting(rigOptions{size: 1})
				o.endpoint = func(ep *proxy.Endpoint) { ep.FleetNotifications = shared }
				f := newRig(t, o)
				f.servers[0].inject(onMethod("subscriptions/listen", crossing(`{"toolsListChanged":true}`)))
				s := f.subscribe(`"mine"`, `{"toolsListChanged":true}`)
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if got := s.agreed(); got != `{"toolsListChanged":true}` {
					t.Errorf("agreed to %s", got)
				}
				if got := s.told(); !slices.Equal(got, []string{"tools/list_changed"}) || s.fault() != nil {
					t.Errorf("told %v, %v", got, s.fault())
				}
				if n := sumOf(t, reader, "berth.crossed_answers", "upstream", "a"); n != 4 {
					t.Errorf("%d counted, want 4", n)
				}
			})
		})
	}
}

// A ping is answered under its own id, or by a refusal: some servers make up an id there.
func TestCrossedPing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{size: 1})
		ep := &proxy.Endpoint{Client: f.outbound}
		for _, c := range []struct {
			fault faultFunc
			ok    bool
		}{
			{anothers(`"result":{}`, ""), false},
			{anothers(`"result":{}`, `"result":{}`), true},
			{sayStatus(400, jsonType, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Missing session ID"}}`), true},
		} {
			f.servers[0].inject(c.fault)
			if err := outbound.To(ep).Ping(t.Context(), f.pool.Upstreams()[0], ""); (err == nil) != c.ok {
				t.Errorf("got %v, want it taken: %v", err, c.ok)
			}
		}
	})
}
