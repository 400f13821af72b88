package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"berth/internal/h1/h1test"
	"berth/internal/mcptest"
	"berth/internal/realtest"
	"berth/proxy"
	"berth/routing"

	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// gauge is what an instrument without attributes says now.
func (b *berth) gauge(name string) int64 {
	b.t.Helper()
	said := b.said(name)
	if len(said) == 0 {
		b.t.Fatalf("no instrument %s", name)
	}
	return said[0].(metricdata.Gauge[int64]).DataPoints[0].Value
}

// atRest waits until berth holds nothing for anybody.
func (b *berth) atRest() {
	b.t.Helper()
	for _, name := range []string{"berth.calls.open", "berth.streams.open", "berth.bodies.bytes"} {
		realtest.Eventually(b.t, name+" to be 0", func() bool { return b.gauge(name) == 0 })
	}
}

// busy is a berth before an upstream that holds each tools/call of the tool "hold", and
// each tasks/update, until release.
func busy(t *testing.T, inFlight int) (b *berth, release func()) {
	t.Helper()
	gate := make(chan struct{})
	b = start(t, setup{
		upstreams: 1,
		server: func(s *mcptest.Server) {
			s.Intercept = func(_ http.ResponseWriter, r *http.Request, body []byte) bool {
				if strings.Contains(string(body), `"name":"hold"`) || methodIn(body) == "tasks/update" {
					select {
					case <-gate:
					case <-r.Context().Done():
					}
				}
				return false
			}
		},
		options: func(o *proxy.Options) { o.Limits.InFlight = inFlight },
	})
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return b, release
}

// hold begins n calls that wait at the upstream, and returns how they end.
func (b *berth) hold(n int) <-chan reply {
	b.t.Helper()
	ended, before := make(chan reply, n), b.contacted()
	for range n {
		go func() { ended <- b.modern("tools/call", "hold", `"name":"hold","arguments":{}`) }()
	}
	realtest.Eventually(b.t, "the calls to be under way", func() bool { return b.contacted() >= before+n })
	return ended
}

// TestOverloadIsShedAndOver: a call too many is told so before it sends its body, the
// last places are for those who wait for work that has begun, and all is as before once
// the others have ended.
func TestOverloadIsShedAndOver(t *testing.T) {
	b, release := busy(t, 10)
	task := b.makeTask()
	ended := b.hold(9)
	call := func() reply { return b.modern("tools/call", "greet", `"name":"greet","arguments":{"name":"x"}`) }
	call().fails(t, 503, -31503, "overloaded", true)
	b.send(http.MethodOptions, "/mcp", "").fails(t, 503, -31503, "overloaded", true)
	b.send(http.MethodGet, "/.well-known/x", "").fails(t, 503, -31503, "overloaded", true)
	if r := b.modern("tasks/get", task, byID(task)); r.status != 200 || r.code() != 0 {
		t.Errorf("a poll gets %v, want the task", r)
	}
	last := make(chan reply)
	go func() { last <- b.modern("tasks/update", task, byID(task)) }()
	realtest.Eventually(t, "ten calls", func() bool { return b.gauge("berth.calls.open") == 10 })
	next := b.dial()
	fmt.Fprintf(next, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
	line, err := bufio.NewReader(next).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 503 ") {
		t.Fatalf("got %q, %v, want 503 at once", line, err)
	}
	release()
	if r := <-last; r.status != 200 {
		t.Errorf("the last call that was let in got %v", r)
	}
	for range 9 {
		if r := <-ended; r.status != 200 {
			t.Errorf("a call that was let in got %v", r)
		}
	}
	b.atRest()
	if r := call(); r.status != 200 {
		t.Errorf("afterwards a call gets %v", r)
	}
	for _, reason := range []string{"reserve", "in_flight"} {
		if !b.labels("berth.shed", "reason")[reason] {
			t.Errorf("not counted: %s", reason)
		}
	}
	if n := strings.Count(b.logs.String(), "load is shed"); n != 1 {
		t.Errorf("told of %d times, want once", n)
	}
}

// TestOneCallersCallsAreBounded: the others still get in.
func TestOneCallersCallsAreBounded(t *testing.T) {
	gate := make(chan struct{})
	release := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	b := start(t, setup{
		upstreams: 1,
		server: func(s *mcptest.Server) {
			s.Intercept = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
				select {
				case <-gate:
				case <-r.Context().Done():
				}
				return false
			}
		},
		options: func(o *proxy.Options) {
			o.Limits.InFlight, o.Limits.InFlightPerCaller, o.TrustedProxies = 100, 2, loopbackPeers
		},
	})
	call := func(from string) reply { return b.post(message("ping", ""), "X-Forwarded-For", from) }
	ended := make(chan reply, 3)
	for range 2 {
		go func() { ended <- call("192.0.2.1") }()
	}
	realtest.Eventually(t, "two calls", func() bool { return b.gauge("berth.calls.open") == 2 })
	call("192.0.2.1").fails(t, 429, -31429, "too_many_calls", true)
	go func() { ended <- call("192.0.2.2") }()
	realtest.Eventually(t, "the other's call", func() bool { return b.gauge("berth.calls.open") == 3 })
	release()
	for range 3 {
		if r := <-ended; r.status != 200 {
			t.Errorf("a call that was let in got %v", r)
		}
	}
	b.atRest()
}

// TestSlowBodiesHoldNoPlace: a call counts from when its body is here.
func TestSlowBodiesHoldNoPlace(t *testing.T) {
	b := start(t, setup{options: func(o *proxy.Options) { o.Limits.InFlight = 2 }})
	for range 5 {
		fmt.Fprintf(b.dial(), "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
	}
	realtest.Eventually(t, "the bodies to be begun", func() bool { return b.gauge("berth.bodies.bytes") > 0 })
	if r := b.post(message("ping", "")); r.status != 200 {
		t.Errorf("a call beside slow bodies gets %v", r)
	}
}

// TestSlowBodiesAreBounded: what clients have begun to send is memory; one of them may
// hold half of it.
func TestSlowBodiesAreBounded(t *testing.T) {
	b := start(t, setup{options: func(o *proxy.Options) {
		o.Limits.Body, o.Limits.Buffered, o.TrustedProxies = 64<<10, 128<<10, loopbackPeers
	}})
	slow := func(client string) net.Conn {
		conn := b.dial()
		fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: %s\r\nContent-Length: 65535\r\n\r\n%s", client, strings.Repeat(" ", 40_000))
		return conn
	}
	first := slow("192.0.2.1")
	realtest.Eventually(t, "its body to be held", func() bool { return b.gauge("berth.bodies.bytes") > 40_000 })
	post := func(client string) reply { return b.post(message("ping", ""), "X-Forwarded-For", client) }
	post("192.0.2.1").fails(t, 503, -31503, "overloaded", true)
	if r := post("192.0.2.2"); r.status != 200 {
		t.Fatalf("another caller gets %v", r)
	}
	second := slow("192.0.2.2")
	realtest.Eventually(t, "both bodies to be held", func() bool { return b.gauge("berth.bodies.bytes") > 80_000 })
	post("192.0.2.3").fails(t, 503, -31503, "overloaded", true)
	first.Close()
	second.Close()
	b.atRest()
	if r := post("192.0.2.3"); r.status != 200 {
		t.Errorf("afterwards a call gets %v", r)
	}
}

// TestAnnouncedBodyTakesNoMemory: only what has come counts, or whoever announces much
// could starve everybody with a few bytes.
func TestAnnouncedBodyTakesNoMemory(t *testing.T) {
	b := start(t, setup{})
	conn := b.dial()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n{", bodyLimit)
	realtest.Eventually(t, "the body to be begun", func() bool { return b.gauge("berth.bodies.bytes") > 0 })
	if n := b.gauge("berth.bodies.bytes"); n > 64<<10 {
		t.Errorf("%d bytes are held for a body of one", n)
	}
	conn.Close()
	b.atRest()
}

// streaming is an upstream whose GETs stand until the client leaves, and whose other
// calls are answered at once.
func streaming(limits func(*proxy.Limits)) setup {
	return setup{
		handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}),
		options: func(o *proxy.Options) {
			o.TrustedProxies = loopbackPeers
			limits(&o.Limits)
		},
	}
}

// TestStandingStreamsAreBounded: of one caller, and in all; they are no calls under way.
func TestStandingStreamsAreBounded(t *testing.T) {
	b := start(t, streaming(func(l *proxy.Limits) { l.InFlight, l.Streams, l.StreamsPerCaller = 1, 3, 2 }))
	from := func(client string) reply {
		response, _ := b.stand("X-Forwarded-For", client)
		if response.StatusCode == 200 {
			return reply{status: 200}
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return reply{response.StatusCode, response.Header, string(body)}
	}
	_, end := b.stand("X-Forwarded-For", "192.0.2.1")
	if r := from("192.0.2.1"); r.status != 200 {
		t.Fatalf("the second stream gets %v", r)
	}
	from("192.0.2.1").fails(t, 429, -31429, "too_many_streams", true)
	if r := from("192.0.2.2"); r.status != 200 {
		t.Fatalf("another caller's stream gets %v", r)
	}
	from("192.0.2.3").fails(t, 503, -31503, "overloaded", true)
	if r := b.post(message("ping", ""), "X-Forwarded-For", "192.0.2.1"); r.status != 200 {
		t.Errorf("a call beside the streams gets %v", r)
	}
	end()
	realtest.Eventually(t, "the stream to end", func() bool { return b.gauge("berth.streams.open") == 2 })
	if r := from("192.0.2.1"); r.status != 200 {
		t.Errorf("a stream in the place of one that ended gets %v", r)
	}
}

// TestBerthsOwnWantIsNoFailureOfTheUpstream: without a file descriptor nobody can be
// asked; that says nothing about those who were not.
func TestBerthsOwnWantIsNoFailureOfTheUpstream(t *testing.T) {
	starved := true
	var dialer net.Dialer
	var endpoint *proxy.Endpoint
	probed := func(o *routing.PoolOptions) {
		o.Probe = func(context.Context, *routing.Upstream) error { return nil }
	}
	b := start(t, setup{pool: probed, endpoint: func(ep *proxy.Endpoint) {
		endpoint = ep
		ep.Client = h1test.NewSender(func(ctx context.Context, network, address string) (net.Conn, error) {
			if starved {
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			return dialer.DialContext(ctx, network, address)
		}, 0)
	}})
	upstreams := len(endpoint.Router.Pool.Upstreams())
	for range 10 {
		b.post(message("ping", "")).fails(t, 503, -31503, "overloaded", true)
		if got := b.record(); got["attempts"] != float64(upstreams) || got["outcome"] != "failed" {
			t.Errorf("got %v, want an attempt at each of %d", got, upstreams)
		}
	}
	b.legacy("", "tasks/list", "").fails(t, 503, -31503, "overloaded", true)
	if n := b.sum("berth.shed"); n != 11 {
		t.Errorf("%d of 11 requests count as turned away", n)
	}
	for _, u := range endpoint.Router.Pool.Upstreams() {
		if u.Silent() || u.Ejected() {
			t.Errorf("upstream %s is blamed", u.Name)
		}
	}
	starved = false
	if r := b.post(message("ping", "")); r.status != 200 {
		t.Errorf("afterwards a call gets %v", r)
	}
}

// A call that finds a connection at another upstream is turned away by nobody.
func TestCallThatAnotherUpstreamGetsIsNotTurnedAway(t *testing.T) {
	var starved atomic.Value // the address that no descriptor is left for
	var dialer net.Dialer
	b := start(t, setup{upstreams: 2, endpoint: func(ep *proxy.Endpoint) {
		ep.Client = h1test.NewSender(func(ctx context.Context, network, address string) (net.Conn, error) {
			if starved.CompareAndSwap(nil, address) || starved.Load() == address {
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			return dialer.DialContext(ctx, network, address)
		}, 0)
	}})
	if r := b.post(message("ping", "")); r.status != 200 || b.record()["attempts"] != 2.0 {
		t.Errorf("got %v", r)
	}
	if n := b.sum("berth.shed"); n != 0 {
		t.Errorf("%d requests count as turned away", n)
	}
}

// TestSmallRequestThatIsShedKeepsItsConnection: under load the client's next connection
// would cost more than the rest of its body, which came with the head.
func TestSmallRequestThatIsShedKeepsItsConnection(t *testing.T) {
	b, release := busy(t, 1)
	ended := b.hold(1)
	for size, closes := range map[int]bool{100: false, 100 << 10: true} {
		conn := b.dial()
		fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat(" ", min(size, 100)))
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable || response.Close != closes {
			t.Errorf("%d bytes: got %d, closing %v, want 503, closing %v", size, response.StatusCode, response.Close, closes)
		}
	}
	release()
	<-ended
}
