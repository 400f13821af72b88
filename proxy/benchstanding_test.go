package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"berth/internal/h1/h1test"
	"berth/internal/mcp"
	"berth/proxy"
)

// standingEvent is one event, in a chunk of its own, as both sides have it.
var standingEvent = fmt.Appendf(nil, "%x\r\n%s\r\n", len(standingMessage), standingMessage)

const standingMessage = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\"," +
	"\"data\":{\"at\":1795672800000000000,\"text\":\"a step of the work is done\"}}}\n\n"

// standingStream is the stream of a session, of which both ends are at hand.
type standingStream struct{ upstream, client net.Conn }

// openStreams opens so many through a berth between HTTP's two sides, over TCP.
func openStreams(tb testing.TB, n int) []standingStream {
	tb.Helper()
	upstream, came := standingUpstream(tb)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", upstream)
	}
	sender := h1test.Bare(h1test.NewSender(dial, 10*time.Second))
	tb.Cleanup(sender.Close)
	p := lentBerthTo(tb, sender, func(o *proxy.Options) { o.Limits.InFlight, o.Limits.InFlightPerCaller = 2*n, 2*n })
	listener := listenLoopback(tb)
	h1test.Serve(tb, listener, p, h1test.Options{})
	all := make([]standingStream, n)
	for i := range all {
		all[i] = standingStream{client: listenTo(tb, listener.Addr().String()), upstream: <-came}
	}
	return all
}

func listenLoopback(tb testing.TB) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = listener.Close() })
	return listener
}

// standingUpstream opens a session a connection, and then its stream, which goes to came.
func standingUpstream(tb testing.TB) (address string, came <-chan net.Conn) {
	const opened = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}`
	listener, streams := listenLoopback(tb), make(chan net.Conn, 1)
	serve := func(conn net.Conn, number int) {
		in := bufio.NewReader(conn)
		for {
			request, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, request.Body)
			if request.Method == http.MethodGet {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
				streams <- conn
				return
			}
			fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s%d-%d\r\nContent-Length: %d\r\n\r\n%s", number, time.Now().UnixNano(), len(opened), opened)
		}
	}
	go func() {
		for number := 0; ; number++ {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			tb.Cleanup(func() { _ = conn.Close() })
			go serve(conn, number)
		}
	}()
	return listener.Addr().String(), streams
}

// listenTo opens a session at a berth, and its stream.
func listenTo(tb testing.TB, berth string) net.Conn {
	const common = "Host: localhost\r\nAccept: application/json, text/event-stream\r\n"
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	conn, err := net.Dial("tcp", berth)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = conn.Close() })
	in := bufio.NewReader(conn)
	ask := func(request string) *http.Response {
		if _, err := io.WriteString(conn, request); err != nil {
			tb.Fatal(err)
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil || response.StatusCode != http.StatusOK {
			tb.Fatalf("got %v, %v", response, err)
		}
		return response
	}
	opened := ask(fmt.Sprintf("POST /mcp HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", common, len(initialize), initialize))
	_, _ = io.Copy(io.Discard, opened.Body)
	ask(fmt.Sprintf("GET /mcp HTTP/1.1\r\n%sMCP-Protocol-Version: 2025-11-25\r\n%s: %s\r\n\r\n", common, mcp.HeaderSession, opened.Header.Get(mcp.HeaderSession)))
	return conn
}

// tell sends an event down the stream, and takes it at the other end.
func (s standingStream) tell(tb testing.TB, room []byte) {
	if _, err := s.upstream.Write(standingEvent); err != nil {
		tb.Fatal(err)
	}
	n, err := io.ReadFull(s.client, room[:len(standingEvent)])
	if err != nil || !bytes.Equal(room[:n], standingEvent) {
		tb.Fatalf("got %q, %v", room[:n], err)
	}
}

// BenchmarkStandingEvent is an event that goes down one of many streams, in turn, between two sockets.
func BenchmarkStandingEvent(b *testing.B) {
	streams, room := openStreams(b, 100), make([]byte, 1<<10)
	for i := range 3 * len(streams) {
		streams[i%len(streams)].tell(b, room)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		streams[i%len(streams)].tell(b, room)
	}
}
