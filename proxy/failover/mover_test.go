package failover_test

import (
	"context"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/internal/storage/storagetest"
	"berth/internal/wire"
	"berth/proxy/failover"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/routing/claim"
	"berth/sticky"
)

// fleet answers for the upstreams by what it is told, and keeps what it was sent.
type fleet struct {
	version string // that b negotiates
	denies  bool   // a says 404
	down    bool   // nobody can be reached

	mu   sync.Mutex // guards the field below
	sent []string   // "METHOD host session body"
}

// Send implements exchange.Sender.
func (f *fleet) Send(_ context.Context, r *exchange.Request, _ time.Duration) (*wire.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, strings.Join([]string{r.Method, r.URL.Host, r.Header.Get(mcp.HeaderSession), string(r.Body)}, " "))
	if f.down {
		return nil, &exchange.SendError{Err: io.ErrClosedPipe}
	}
	status, body := wire.StatusOK, `{"jsonrpc":"2.0","id":`+string(mcp.ID(r.Body))+`,"result":{"protocolVersion":"`+f.version+`"}}`
	if f.denies && r.URL.Host == "a" {
		status, body = wire.StatusNotFound, ""
	}
	return &wire.Response{Status: status, Body: io.NopCloser(strings.NewReader(body)), ContentLength: -1, Header: wire.NewHeader(
		"Content-Type", "application/json", mcp.HeaderSession, "at-"+r.URL.Host,
	)}, nil
}

// Close implements exchange.Sender.
func (f *fleet) Close() {}

// CrossedBy implements outbound.Reporter.
func (f *fleet) CrossedBy(string, *routing.Upstream) {}

// rig is a session s of nobody's at a, which can be opened anew on b.
type rig struct {
	fleet

	mover    failover.Mover
	store    *storage.Store
	endpoint *inbound.Endpoint
	at       routing.Decision
	outcomes []failover.Outcome
}

func newRig(t *testing.T) *rig {
	t.Helper()
	store := storagetest.OpenMemory(t)
	r := &rig{fleet: fleet{version: "2025-11-25"}, store: store}
	r.mover.Count = func(_ string, o failover.Outcome) { r.outcomes = append(r.outcomes, o) }
	pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{
		{Name: "a", URL: &url.URL{Scheme: "http", Host: "a"}}, {Name: "b", URL: &url.URL{Scheme: "http", Host: "b"}},
	}})
	r.endpoint = &inbound.Endpoint{Client: &r.fleet, Reinit: true, Router: &routing.Router{Pool: pool, Guard: claim.Guard{Bindings: sticky.New(store, sticky.Options{Near: 9})}}}
	key := r.endpoint.Router.SessionKey("", "s")
	begins := r.request(t, wire.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`)
	beside := sticky.Beside{Handshake: failover.Beginning(begins.Way, key, "2025-11-25")}
	if err := r.endpoint.Router.BindBeside(t.Context(), key, sticky.Binding{Upstream: "a", Version: "2025-11-25"}, 0, beside); err != nil {
		t.Fatal(err)
	}
	binding, _, err := r.endpoint.Router.Bindings.Lookup(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	r.at = routing.Decision{Owner: pool.Find("a"), Key: key, Binding: binding}
	return r
}

// request is a request in the session.
func (r *rig) request(t *testing.T, method, body string) failover.Case {
	t.Helper()
	call := &inbound.Call{
		HTTP: (&wire.Request{Method: method, URL: new(url.URL), Header: new(wire.Header)}).WithContext(t.Context()), Session: "s", Body: []byte(body),
		Settings: &inbound.Settings{Limits: inbound.Limits{}.WithDefaults(), LongestTaskID: 99}, Endpoint: r.endpoint,
	}
	if body != "" {
		if err := (inbound.Arrival{Call: call}).Classify(); err != nil {
			t.Fatal(err)
		}
	}
	if err := (inbound.Arrival{Call: call}).FindSession(); err != nil {
		t.Fatal(err)
	}
	return failover.Case{At: &r.at, Way: outbound.Way{Call: call, InSession: true, Owner: r.at.Owner, Report: &r.fleet, Log: slog.New(slog.DiscardHandler)}}
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

// What means the upstream that is lost does not move the session.
func TestWhatBecomesOfARequestWhoseUpstreamIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		method, body string
		change       func(*rig)
		lost, denied failover.Step
	}{
		"call":              {wire.MethodPost, ping, nil, failover.Follow, failover.Follow},
		"stream":            {wire.MethodGet, "", nil, failover.Follow, failover.Follow},
		"end":               {wire.MethodDelete, "", nil, failover.Stay, failover.Stay},
		"answer":            {wire.MethodPost, `{"jsonrpc":"2.0","id":0,"result":{}}`, nil, failover.Drop, failover.Drop},
		"task":              {wire.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}`, nil, failover.Stay, failover.Refuse},
		"off":               {wire.MethodPost, ping, func(r *rig) { r.endpoint.Reinit = false }, failover.Stay, failover.Stay},
		"another version":   {wire.MethodPost, ping, func(r *rig) { r.version = "2025-06-18" }, failover.Refuse, failover.Refuse},
		"moved by another":  {wire.MethodPost, ping, func(r *rig) { r.at.Binding.Upstream = "c" }, failover.Reroute, failover.Reroute},
		"nobody is there":   {wire.MethodPost, ping, func(r *rig) { r.down = true }, failover.Refuse, failover.Stay},
		"the store is away": {wire.MethodPost, ping, func(r *rig) { r.store.Close() }, failover.Refuse, failover.Stay},
		"the store forgot":  {wire.MethodPost, ping, func(r *rig) { r.endpoint.Router.Bindings.DropHandshake(context.Background(), r.at.Key) }, failover.Stay, failover.Stay},
	} {
		t.Run(name, func(t *testing.T) {
			for _, denied := range []bool{false, true} {
				r, want := newRig(t), c.lost
				if r.denies = denied; denied {
					want = c.denied
				}
				if c.change != nil {
					c.change(r)
				}
				request, v := r.request(t, c.method, c.body), failover.Verdict{}
				if denied {
					v = r.mover.Denied(t.Context(), request, r.at.Owner, wire.StatusNotFound)
				} else {
					v = r.mover.Lost(t.Context(), request, r.at.Owner)
				}
				if v.Step != want || (v.Step == failover.Follow) != (v.To != nil && v.To.Name == "b") || (v.Step == failover.Refuse) != (v.Err != nil) {
					t.Errorf("denied %v: got %+v, want step %d", denied, v, want)
				}
			}
		})
	}
}

// A request is moved once, and one that no session decided never.
func TestWhatWasMovedStays(t *testing.T) {
	r := newRig(t)
	request := r.request(t, wire.MethodPost, ping)
	request.Moved = true
	if v := r.mover.Lost(t.Context(), request, r.at.Owner); v.Step != failover.Stay || len(r.sent) != 0 {
		t.Errorf("got %+v after %q", v, r.sent)
	}
}

// A 404 that the upstream's answer to a ping does not confirm is about something else.
func TestADenialIsConfirmed(t *testing.T) {
	r := newRig(t)
	if v := r.mover.Denied(t.Context(), r.request(t, wire.MethodPost, ping), r.at.Owner, wire.StatusNotFound); v.Step != failover.Stay || len(r.sent) != 1 {
		t.Errorf("got %+v after %q", v, r.sent)
	}
}

// Only a suspect session is asked for before a call is held in it.
func TestASuspectSessionIsAskedFor(t *testing.T) {
	r := newRig(t)
	request, a := r.request(t, wire.MethodPost, ping), r.at.Owner
	if v := r.mover.Suspected(t.Context(), request, a); v.Step != failover.Stay || len(r.sent) != 0 {
		t.Errorf("not suspect: got %+v after %q", v, r.sent)
	}
	request.Endpoint.Suspects().Add(a, "s")
	if v := r.mover.Suspected(t.Context(), request, a); v.Step != failover.Stay || len(r.sent) != 1 || request.Endpoint.Suspects().Has(a, "s") {
		t.Errorf("cleared: got %+v after %q", v, r.sent)
	}
	request.Endpoint.Suspects().Add(a, "s")
	r.denies = true
	if v := r.mover.Suspected(t.Context(), request, a); v.Step != failover.Follow {
		t.Errorf("denied: got %+v", v)
	}
}

// What the upstream granted is told to the next one, in order; what it was asked to end is not.
func TestWhatWasGrantedIsSaidAgain(t *testing.T) {
	r := newRig(t)
	for _, said := range []string{
		`{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"file:///1"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"file:///2"}}`,
		`{"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"file:///1"}}`,
		`{"jsonrpc":"2.0","id":5,"method":"logging/setLevel","params":{"level":"debug"}}`,
		`{"jsonrpc":"2.0","id":6,"method":"resources/subscribe","params":{"uri":"file:///3"}}`,
		ping,
	} {
		failover.Granted(r.request(t, wire.MethodPost, said))
	}
	if v := r.mover.Lost(t.Context(), r.request(t, wire.MethodPost, ping), r.at.Owner); v.Step != failover.Follow {
		t.Fatalf("got %+v", v)
	}
	var methods []string
	ids := make(map[string]bool)
	for _, sent := range r.sent {
		var m mcp.Message
		m.Peek([]byte(sent[strings.Index(sent, "{"):]), 9)
		methods = append(methods, m.Calls[0].Method)
		id := string(mcp.ID([]byte(sent[strings.Index(sent, "{"):])))
		if id != "" && ids[id] {
			t.Errorf("the id %s is used again", id)
		}
		ids[id] = true
	}
	if got := strings.Join(methods, " "); got != "initialize notifications/initialized logging/setLevel resources/subscribe resources/subscribe" || !strings.Contains(r.sent[3], "file:///2") {
		t.Errorf("sent %q", r.sent)
	}
	if len(r.outcomes) != 1 || r.outcomes[0] != failover.Moved {
		t.Errorf("counted %q", r.outcomes)
	}
}
