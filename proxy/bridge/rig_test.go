package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/h1test"
	"berth/internal/mcp"
	"berth/internal/memnet"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/routing"
)

// rig is a bridge before an upstream in memory. Whoever makes one does so in a synctest bubble.
type rig struct {
	*upstream

	t      *testing.T
	b      *Bridge
	at     *routing.Upstream
	client exchange.Sender
	keeps  bool // sessions may be left at the upstream in the end
}

// bridged runs a test of a bridge before an upstream, and looks for what it left behind: goroutines,
// sessions, shelves. change changes the bridge's options; nil changes nothing.
func bridged(t *testing.T, u *upstream, change func(*Options), test func(r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, u, change)
		test(r)
		r.noIDTwice()
	})
}

// noIDTwice fails if berth has used an id twice in a session (2025-11-25, "Requests"), but for a call that its server did not take up, which
// is sent again as it is.
func (r *rig) noIDTwice() {
	r.t.Helper()
	r.upstream.mu.Lock()
	defer r.upstream.mu.Unlock()
	used := map[string]bool{}
	for _, q := range r.requests {
		id := mcp.ID([]byte(q.body))
		if id == nil || q.session == "" || q.method == "answer" || q.method == "tools/call" {
			continue
		}
		if key := q.session + string(id); used[key] {
			r.t.Errorf("%s bears an id that was used in its session: %s", q.method, q.body)
		} else {
			used[key] = true
		}
	}
}

var secret = bytes.Repeat([]byte("k"), 32)

func newRig(t *testing.T, u *upstream, change func(*Options)) *rig {
	life, end := context.WithCancel(context.Background())
	u.life, u.sessions, u.wakes, u.requests, u.count = life, map[string]*served{}, make(chan struct{}), nil, 0
	a, b := memnet.Listen("a"), memnet.Listen("b")
	front := &http.Server{Handler: u, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, 0)}
	go front.Serve(a)
	go front.Serve(b)
	r := &rig{upstream: u, t: t, client: h1test.NewSender(memnet.Dialer(a, b), time.Second)}
	t.Cleanup(func() {
		end()
		r.client.Close()
		front.Close()
	})
	r.b = r.another(change)
	r.at = r.b.options().Endpoint.Router.Pool.Find("a")
	return r
}

// another is one more berth's bridge before the rig's upstream.
func (r *rig) another(change func(*Options)) *Bridge {
	at := &routing.Upstream{Name: "a", URL: &url.URL{Scheme: "http", Host: "a:80", Path: "/mcp"}}
	pool := routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: []*routing.Upstream{at}})
	keys, err := seal.NewKeyring(secret)
	if err != nil {
		r.t.Fatal(err)
	}
	o := Options{Endpoint: &inbound.Endpoint{Path: "/mcp", Router: &routing.Router{Pool: pool}, Client: r.client, Timeouts: inbound.Timeouts{Control: 30 * time.Second}}, Keys: keys}
	if change != nil {
		change(&o)
	}
	b := New(o)
	o.Endpoint.Bridge = b
	r.run(b)
	return b
}

// run runs a bridge until the test ends. By then all that it holds must have run out.
func (r *rig) run(b *Bridge) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	r.t.Cleanup(func() {
		time.Sleep(20 * time.Minute)
		if left := b.has(); left != (stands{}) {
			r.t.Errorf("left: %+v", left)
		}
		if left := r.open(); len(left) != 0 && !r.keeps {
			r.t.Errorf("sessions %v are left", left)
		}
		stop()
		<-done
	})
}

// client capabilities.
const (
	declaresAll  = `{"elicitation":{},"sampling":{},"roots":{}}`
	declaresForm = `{"elicitation":{}}`
	declaresNone = `{}`
)

// asked is a modern request.
type asking struct {
	method   string // "": tools/call
	name     string // of the tool
	id       string // raw; "": 1
	params   string // further members, each with a comma behind it
	meta     string // further members of _meta, each with a comma before it
	declares string // "": declaresAll
	caller   string // principal
	version  string // "": 2026-07-28
	header   []string
	by       *Bridge // "": the rig's
	leaves   <-chan struct{}
}

func (a asking) request(target *url.URL) *exchange.Request {
	or := func(s, other string) string {
		if s == "" {
			return other
		}
		return s
	}
	method, h := or(a.method, "tools/call"), new(wire.Header)
	if a.name != "" {
		member := `"name"`
		if method == "resources/read" {
			member = `"uri"`
		}
		a.params += fmt.Sprintf(`%s:%q,`, member, a.name)
		h.Set(mcp.HeaderName, a.name)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s%s}}}`,
		or(a.id, "1"), method, a.params, or(a.version, "2026-07-28"), or(a.declares, declaresAll), a.meta)
	h.Set("Content-Type", "application/json")
	h.Set("Accept", "application/json, text/event-stream")
	h.Set(mcp.HeaderVersion, or(a.version, "2026-07-28"))
	h.Set(mcp.HeaderMethod, method)
	for i := 0; i < len(a.header); i += 2 {
		h.Set(a.header[i], a.header[i+1])
	}
	return &exchange.Request{Method: wire.MethodPost, URL: target, Header: h, Body: []byte(body), Caller: a.caller, Leaves: a.leaves, GoesOn: mcp.MayGoOn([]byte(body))}
}

// send sends a request whose answer is the caller's to close.
func (r *rig) send(ctx context.Context, a asking) (*wire.Response, error) {
	by := a.by
	if by == nil {
		by = r.b
	}
	u := by.options().Endpoint.Router.Pool.Find("a")
	out := a.request(u.URL)
	response, err := by.To(u).Send(ctx, out, 0)
	if err == nil {
		return by.Doubt(ctx, u, out, response, 0)
	}
	return response, err
}

// got is an answer.
type got struct {
	status int
	header *wire.Header
	all    []string // messages
	text   string   // the last of them

	Result struct {
		Type     string `json:"resultType"`
		State    string `json:"requestState"`
		Requests map[string]struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		} `json:"inputRequests"`
		Got []json.RawMessage `json:"got"`
	} `json:"result"`
	Error *struct {
		Code int             `json:"code"`
		Data json.RawMessage `json:"data"`
	} `json:"error"`
}

// keys are those of what is asked, as inputResponses that all say the same.
func (g got) answers(each string) string {
	var members []string
	for key := range g.Result.Requests {
		members = append(members, fmt.Sprintf("%q:%s", key, each))
	}
	return g.with(strings.Join(members, ","))
}

// with are the params of a retry with these inputResponses.
func (g got) with(responses string) string {
	return fmt.Sprintf(`"inputResponses":{%s},"requestState":%q,`, responses, g.Result.State)
}

const accepted = `{"action":"accept","content":{"name":"A"}}`

// do sends a request and reads its answer.
func (r *rig) do(a asking) got {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Hour)
	defer cancel()
	response, err := r.send(ctx, a)
	if err != nil {
		r.t.Errorf("%s %s: %v", a.method, a.name, err)
		return got{}
	}
	defer response.Body.Close()
	return r.read(response)
}

func (r *rig) read(response *wire.Response) (g got) {
	r.t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Errorf("reading the answer: %v", err)
	}
	g.status, g.header, g.all = response.Status, response.Header, []string{string(body)}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		g.all = nil
		for event := range strings.SplitSeq(strings.TrimSpace(string(body)), "\n\n") {
			_, data, _ := strings.Cut(event, "data: ")
			g.all = append(g.all, data)
		}
	}
	if g.text = g.all[len(g.all)-1]; g.text != "" {
		if err := json.Unmarshal([]byte(g.text), &g); err != nil {
			r.t.Errorf("%s: %v", g.text, err)
		}
	}
	return g
}

// stands is what a bridge has of its upstream.
type stands struct{ sessions, shelves, holds int }

func (b *Bridge) has() (s stands) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faces {
		open, shelves := f.sessions.Size()
		s.sessions, s.shelves = s.sessions+open, s.shelves+shelves
		s.holds += f.calls.Size()
	}
	return s
}
