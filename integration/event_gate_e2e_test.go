//go:build e2e

package integration

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// eventGate stands before an untouched server. Of the answer to each tool call it lets so
// many events through, and then no more. It can break the connections that it has.
type eventGate struct {
	url   string
	proxy httputil.ReverseProxy
	most  int // events; below 0: all

	mu    sync.Mutex // guards the fields below
	to    *url.URL
	conns map[net.Conn]struct{}
	last  string // id of the last event that was let through
	n     int    // of these
	ended int    // answers that went out whole
	saw   []string
	down  bool // nobody gets a connection
}

// startGate starts a gate before an instance of a fleet.
func startGate(t testing.TB, target string, most int) *eventGate {
	t.Helper()
	g := &eventGate{most: most, conns: map[net.Conn]struct{}{}}
	g.turn(t, target)
	g.proxy = httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			to := g.target()
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
			r.Out.Host = to.Host // go-sdk asks for its own name
		},
		ModifyResponse: g.hold,
		FlushInterval:  -1,
		ErrorLog:       log.New(t.Output(), "gate: ", 0),
	}
	front := httptest.NewUnstartedServer(g)
	front.Config.ErrorLog = g.proxy.ErrorLog
	front.Config.ConnState = g.keep
	front.Start()
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
	})
	g.url = front.URL
	return g
}

// gated is a fleet behind a gate for each instance.
func (f fleet) gated(t testing.TB, most int) (fleet, []*eventGate) {
	t.Helper()
	var fronts fleet
	var gates []*eventGate
	for _, i := range f {
		g := startGate(t, i.base, most)
		gates = append(gates, g)
		fronts = append(fronts, &instance{process: i.process, base: g.url})
	}
	return fronts, gates
}

// turn makes requests to come lead to another server.
func (g *eventGate) turn(t testing.TB, target string) {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.to = to
}

func (g *eventGate) target() *url.URL {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.to
}

func (g *eventGate) keep(conn net.Conn, state http.ConnState) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(g.conns, conn)
		return
	}
	if g.down {
		abort(conn)
	}
	g.conns[conn] = struct{}{}
}

// reset breaks all connections, as a router does that has forgotten them.
func (g *eventGate) reset() (broken int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for conn := range g.conns {
		abort(conn)
	}
	return len(g.conns)
}

func abort(conn net.Conn) {
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// partition breaks all connections, and those that are tried, until it is over.
func (g *eventGate) partition(on bool) {
	g.mu.Lock()
	g.down = on
	g.mu.Unlock()
	g.reset()
}

// lastEvent is the id of the last event that was let through, "" before there is one.
func (g *eventGate) lastEvent() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// passed counts the events with an id that were let through.
func (g *eventGate) passed() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.n
}

// responses counts those that were let through.
func (g *eventGate) responses() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ended
}

type isCall struct{}

func (g *eventGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch {
	case r.Method == http.MethodDelete:
		g.see("DELETE")
	case bytes.Contains(body, []byte(`"notifications/cancelled"`)):
		g.see("cancelled")
	}
	if bytes.Contains(body, []byte(`"tools/call"`)) {
		r = r.WithContext(context.WithValue(r.Context(), isCall{}, true))
	}
	if r.Header.Get("Last-Event-ID") != "" || bytes.Contains(body, []byte(`"tools/call"`)) {
		defer g.see("closed")
	}
	g.proxy.ServeHTTP(w, r)
}

// see notes something for journal.
func (g *eventGate) see(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.saw = append(g.saw, what)
}

// journal is what came by, in order: "DELETE" and "cancelled" for what clients send,
// "response" for the end of a call, "closed" for that of its exchange.
func (g *eventGate) journal() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return strings.Join(g.saw, " ")
}

func (g *eventGate) hold(response *http.Response) error {
	if response.Request.Context().Value(isCall{}) != nil {
		response.Body = &gatedStream{Closer: response.Body, g: g, ctx: response.Request.Context(), lines: bufio.NewReader(response.Body)}
	}
	return nil
}

// gatedStream is an event stream of which a gate lets some events through.
type gatedStream struct {
	io.Closer
	g     *eventGate
	ctx   context.Context
	lines *bufio.Reader
	event []byte // what of it was not read
	n     int    // events that were
}

// Read implements io.Reader.
func (s *gatedStream) Read(p []byte) (int, error) {
	if len(s.event) == 0 {
		if err := s.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.event)
	s.event = s.event[n:]
	return n, nil
}

// next reads one event, and waits before one that may not pass.
func (s *gatedStream) next() error {
	for {
		line, err := s.lines.ReadBytes('\n')
		s.event = append(s.event, line...)
		if err != nil && len(s.event) == 0 {
			return err
		}
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	if s.event[0] == ':' {
		return nil
	}
	if s.n++; s.g.most >= 0 && s.n > s.g.most {
		<-s.ctx.Done() // whoever wants it is gone then
		return context.Cause(s.ctx)
	}
	s.g.note(string(s.event))
	return nil
}

// note notes what goes through.
func (g *eventGate) note(event string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for line := range strings.Lines(event) {
		if id, is := strings.CutPrefix(line, "id:"); is {
			g.last = strings.TrimSpace(id)
			g.n++
		}
		if data, is := strings.CutPrefix(line, "data:"); is {
			if m, err := parseLegacy([]byte(data)); err == nil && m.Method == "" {
				g.ended++
				g.saw = append(g.saw, "response")
			}
		}
	}
}

// resetEvery breaks all connections again and again, until the test or stop ends it.
func (g *eventGate) resetEvery(t testing.TB, every time.Duration) (stop func() (broken int)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	broken := 0
	running.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				broken += g.reset()
			}
		}
	})
	stop = func() int {
		cancel()
		running.Wait()
		return broken
	}
	t.Cleanup(func() { stop() })
	return stop
}
