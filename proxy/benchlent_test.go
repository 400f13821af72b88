package proxy_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/journal"
	"berth/internal/seal"
	"berth/internal/telemetry"
	"berth/internal/trouble"
	"berth/internal/wire"
	"berth/proxy"
	"berth/routing"
	"berth/routing/claim"
	"berth/sticky"

	"go.opentelemetry.io/otel/trace/noop"
)

// lentContext is a client's, as a server of HTTP lends it: nothing is made before somebody asks for its end.
type lentContext struct {
	mu   sync.Mutex // guards the field below
	ends chan struct{}
}

// AfterFunc has nothing done: the client does not leave.
func (*lentContext) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }

func (*lentContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (*lentContext) Err() error                  { return nil }
func (*lentContext) Value(any) any               { return nil }
func (c *lentContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends == nil {
		c.ends = make(chan struct{})
	}
	return c.ends
}

// lentClient is a connection without one: it lends its request, and takes the answer. Nothing of it costs memory.
type lentClient struct {
	request wire.Request
	asked   *wire.Header // the header
	url     url.URL
	message []byte
	body    bytes.Reader
	context lentContext

	answer  *wire.Header
	status  int
	written int
	kept    *bytes.Buffer // what was written; nil: it is dropped
}

func newLentClient(method, name, params string) *lentClient {
	c := &lentClient{answer: new(wire.Header), message: []byte(modernMessage(method, params))}
	c.asked = new(wire.Header)
	fields := []string{
		"User-Agent", "node", "Accept", "application/json, text/event-stream", "Content-Type", "application/json",
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Content-Length", strconv.Itoa(len(c.message)),
	}
	if name != "" {
		fields = append(fields, "Mcp-Name", name)
	}
	for i := 0; i < len(fields); i += 2 {
		c.asked.Append(wire.Field{Name: fields[i], Value: fields[i+1], Judged: true, Usual: wire.UsualOf(fields[i])}) // as a parser has it
	}
	c.request.Header = new(wire.Header)
	return c
}

var lentPeer = netip.MustParseAddr("127.0.0.1")

// ask lends p the request anew.
func (c *lentClient) ask(p *proxy.Proxy) (whole bool) {
	c.answer.Forget()
	c.request.Header.Forget()
	c.request.Header.AppendSome(c.asked, 0, len(c.asked.Fields()))
	c.body.Reset(c.message)
	c.url = url.URL{Path: "/mcp"}
	c.request = wire.Request{
		Method: wire.MethodPost, URL: &c.url, Host: "localhost", Header: c.request.Header, Body: &c.body,
		ContentLength: int64(len(c.message)), ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "127.0.0.1:40000", Peer: lentPeer,
	}
	c.request.WithContext(&c.context)
	c.status, c.written = 0, 0
	return p.Serve(c, &c.request)
}

func (c *lentClient) Header() *wire.Header           { return c.answer }
func (c *lentClient) WriteHeader(status int)         { c.status = status }
func (*lentClient) Flush() error                     { return nil }
func (*lentClient) SetReadDeadline(time.Time) error  { return nil }
func (*lentClient) SetWriteDeadline(time.Time) error { return nil }

// Write implements io.Writer.
func (c *lentClient) Write(b []byte) (int, error) {
	if c.written += len(b); c.kept != nil {
		return c.kept.Write(b)
	}
	return len(b), nil
}

// lentSender has answers ready, and lends them.
type lentSender struct {
	answers map[string][]byte // by what Mcp-Name says
	made    []byte            // the answer that makes a task; its id is counted up
	events  []byte
	header  *wire.Header
	lent    struct {
		wire.Response
		bytes.Reader
	}
	n int
}

func newLentSender() *lentSender {
	s := &lentSender{answers: benchedAnswers(), header: new(wire.Header)}
	s.made = answerOf(`"resultType":"task",` + strings.Replace(benchedView, benchedTask, "task-0000000000000000000000", 1))
	var events strings.Builder
	for range benchedEvents {
		events.WriteString(benchedProgress)
	}
	events.WriteString("event: message\ndata: " + string(answerOf(`"resultType":"complete","content":[]`)) + "\n\n")
	s.events = []byte(events.String())
	return s
}

// Send implements exchange.Sender.
func (s *lentSender) Send(_ context.Context, request *exchange.Request, _ time.Duration) (*wire.Response, error) {
	name := request.Header.Get("Mcp-Name")
	answer, length := s.answers[name], int64(-1)
	s.header.Set("Content-Type", "application/json")
	switch name {
	case "make":
		answer = s.nextMade()
	case "talk":
		answer = s.events
		s.header.Set("Content-Type", "text/event-stream")
	}
	if name != "talk" {
		length = int64(len(answer))
	}
	s.lent.Reader.Reset(answer)
	request.Written = true
	s.lent.Response = wire.Response{Status: 200, Phrase: "OK", Header: s.header, Body: lentBody{s}, ContentLength: length, ProtoMajor: 1, ProtoMinor: 1}
	return &s.lent.Response, nil
}

// nextMade is the creation of a task with an id of its own.
func (s *lentSender) nextMade() []byte {
	s.n++
	at := bytes.Index(s.made, []byte("task-")) + len("task-")
	for i, n := at+21, s.n; i >= at; i, n = i-1, n/10 {
		s.made[i] = byte('0' + n%10)
	}
	return s.made
}

// Close implements exchange.Sender.
func (*lentSender) Close() {}

// lentBody is that of the answer, which its end takes back.
type lentBody struct{ s *lentSender }

func (b lentBody) Read(p []byte) (int, error) { return b.s.lent.Reader.Read(p) }
func (b lentBody) Close() error               { b.s.header.Forget(); return nil }

// lentBerth is a berth as the command makes it by default, without HTTP on either side.
func lentBerth(tb testing.TB) *proxy.Proxy {
	tb.Helper()
	return lentBerthTo(tb, newLentSender(), func(*proxy.Options) {})
}

// lentBerthTo is lentBerth in front of what a sender reaches.
func lentBerthTo(tb testing.TB, sender exchange.Sender, change func(*proxy.Options)) *proxy.Proxy {
	tb.Helper()
	log := slog.New(slog.DiscardHandler)
	tells, err := telemetry.Start(tb.Context(), telemetry.Options{Log: log})
	if err != nil {
		tb.Fatal(err)
	}
	meters := tells.MeterProvider()
	store := openStore(tb, "memory:")
	bindings := sticky.New(store, sticky.Options{Logger: log, Meter: meters, Near: 100_000})
	upstreams := []*routing.Upstream{{Name: "a", URL: &url.URL{Scheme: "http", Host: "a", Path: "/mcp"}}}
	pool := routing.NewPool(routing.PoolOptions{Name: "main", Upstreams: upstreams, Logger: log, Meter: meters})
	ep := &proxy.Endpoint{
		Path: "/mcp", Router: &routing.Router{Pool: pool, Guard: claim.Guard{Bindings: bindings}, Asker: routing.NewAsker(pool)},
		Client: sender, OwnerGrace: 30 * time.Second,
		Timeouts: proxy.Timeouts{Read: 10 * time.Second, Control: 30 * time.Second, Quiet: 5 * time.Minute},
	}
	options := proxy.Options{
		Endpoints: []*proxy.Endpoint{ep}, Loopback: true, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Keys: seal.NewStoredKeyring(store), Logger: log, Meter: meters,
		Limits:    proxy.Limits{Polls: 1e9, UnknownIDs: 20},
		AccessLog: journal.New(io.Discard).Patient(slog.LevelInfo),
		Decisions: new(proxy.Decisions), Troubles: trouble.New(nil), Tracer: noop.NewTracerProvider(),
	}
	change(&options)
	return proxy.New(options)
}

// lentCases are requests as they are counted, by what they do.
var lentCases = map[string]func() *lentClient{
	"poll": func() *lentClient { return newLentClient("tasks/get", benchedTask, `"taskId":"`+benchedTask+`"`) },
	"call": func() *lentClient {
		return newLentClient("tools/call", "greet", `"name":"greet","arguments":{"text":"the quick brown fox jumps over the lazy dog"}`)
	},
	"creation": func() *lentClient { return newLentClient("tools/call", "make", `"name":"make","arguments":{}`) },
	"list":     func() *lentClient { return newLentClient("tools/list", "", "") },
	"events":   func() *lentClient { return newLentClient("tools/call", "talk", `"name":"talk","arguments":{}`) },
}

// serveLent has p answer c, which must be a success.
func serveLent(tb testing.TB, p *proxy.Proxy, c *lentClient) {
	if !c.ask(p) || c.status != wire.StatusOK || c.written == 0 {
		tb.Fatalf("got status %d and %d bytes", c.status, c.written)
	}
}

// BenchmarkServe is what is berth's own of a request: all but HTTP.
func BenchmarkServe(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(lentCases)) {
		b.Run(name, func(b *testing.B) {
			p, c := lentBerth(b), lentCases[name]()
			serveLent(b, p, newLentClient("tools/call", "bind", `"name":"bind","arguments":{}`))
			b.ReportAllocs()
			for b.Loop() {
				serveLent(b, p, c)
			}
		})
	}
}
