package proxy_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/framing"
	"berth/internal/memnet"
	"berth/proxy"
)

const bodyLimit = 4 << 20

// TestBodyTooLargeIsRefusedUnread: its length says so before a byte of it came.
func TestBodyTooLargeIsRefusedUnread(t *testing.T) {
	b := start(t, setup{})
	for name, expect := range map[string]string{"plain": "", "asking first": "Expect: 100-continue\r\n"} {
		conn := b.dial()
		fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n", expect, bodyLimit+1)
		// No byte of the body follows, and none is asked for.
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 413 ") {
			t.Errorf("%s: got %q, %v, want 413 at once", name, line, err)
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

// TestBodyThatGrowsTooLargeIsCutOff: a chunked body has no length to judge by.
func TestBodyThatGrowsTooLargeIsCutOff(t *testing.T) {
	b := start(t, setup{})
	conn := b.dial()
	io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
	var sent atomic.Int64
	go func() {
		chunk := "10000\r\n" + strings.Repeat(" ", 1<<16) + "\r\n"
		for range 1024 {
			if _, err := io.WriteString(conn, chunk); err != nil {
				return
			}
			sent.Add(1 << 16)
		}
	}()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge || !response.Close {
		t.Errorf("got %d, closing %v, want 413 and the end of the connection", response.StatusCode, response.Close)
	}
	if _, err := io.Copy(io.Discard, conn); err == nil {
		await(t, "the client's writes to fail", func() bool { _, err := conn.Write([]byte("x")); return err != nil })
	}
	// What the kernel buffers besides is no memory of berth's.
	if n := sent.Load(); n > 4*bodyLimit {
		t.Errorf("%d bytes were taken in, limit %d", n, bodyLimit)
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
}

// TestLargeBodyCostsLittleMore: the buffer that a body of unknown length grows in
// must not multiply it.
func TestLargeBodyCostsLittleMore(t *testing.T) {
	b := start(t, setup{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusAccepted)
	})})
	send := func(size int) uint64 {
		body := `{"jsonrpc":"2.0","id":1,"method":"x","params":{"p":"` + strings.Repeat("p", size) + `"}}`
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+b.address+"/mcp", io.MultiReader(strings.NewReader(body)))
		if err != nil {
			t.Fatal(err)
		}
		response, err := plain.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusAccepted {
			t.Fatalf("got %d, want 202", response.StatusCode)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	send(1000) // what is allocated once
	const size = 3 << 20
	// The test's own copy is one; the buffers of 16 KiB · 4ⁿ sum up to a third more
	// than the last, and the last to the limit.
	if got := send(size); got > 2*size+bodyLimit+bodyLimit/2 {
		t.Errorf("%d bytes allocated for a body of %d", got, size)
	}
}

// TestExpectantClientIsAskedForItsBody: berth is the one who answers the
// expectation, and the upstream never sees it.
func TestExpectantClientIsAskedForItsBody(t *testing.T) {
	m := new(mirror)
	b := start(t, setup{handler: m})
	conn := b.dial()
	body := message("ping", "")
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", len(body))
	reader := bufio.NewReader(conn)
	if line, err := reader.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" {
		t.Fatalf("got %q, %v, want 100 Continue", line, err)
	}
	io.WriteString(conn, body)
	rest, err := io.ReadAll(reader)
	if err != nil || !strings.Contains(string(rest), "HTTP/1.1 200 ") {
		t.Errorf("got %q, %v, want 200", rest, err)
	}
	if got, seen := m.seen(); seen != body || got.Header.Get("Expect") != "" {
		t.Errorf("upstream saw %q, Expect %q", seen, got.Header.Get("Expect"))
	}
}

// TestEncodedBodiesAreRefused: nobody could look into them.
func TestEncodedBodiesAreRefused(t *testing.T) {
	b := start(t, setup{})
	for _, header := range [][]string{
		{"Content-Encoding", "gzip"}, {"Content-Encoding", "x-unknown"}, {"Content-Encoding", "identity", "Content-Encoding", "gzip"}, {"Content-Encoding", "identity, gzip"},
	} {
		if r := b.post(message("ping", ""), header...); r.status != http.StatusUnsupportedMediaType {
			t.Errorf("%v: got %v, want 415", header, r)
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("upstreams saw %d requests, want none", n)
	}
	if r := b.post(message("ping", ""), "Content-Encoding", "Identity"); r.status != 200 {
		t.Errorf("identity: got %v, want 200", r)
	}
}

// TestBodiesOfOtherMethodsPassToo: a GET or DELETE has none by custom only, and
// what is left unread would hold the connection up.
func TestBodiesOfOtherMethodsPassToo(t *testing.T) {
	m := new(mirror)
	b := start(t, setup{handler: m})
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if r := b.send(method, "/mcp", "{}"); r.status != 200 {
			t.Errorf("%s: got %v, want 200", method, r)
		}
		if got, body := m.seen(); got.Method != method || body != "{}" {
			t.Errorf("%s: upstream saw %s %q", method, got.Method, body)
		}
	}
}

// inMemory serves a proxy that no request reaches an upstream of, in fake time.
func inMemory(t *testing.T) *memnet.Listener {
	t.Helper()
	p := proxy.New(proxy.Options{Loopback: true, Endpoints: []*proxy.Endpoint{{Path: "/mcp", Router: unreachable()}}})
	listener := memnet.Listen("berth")
	server := &http.Server{Handler: p, ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(framing.NewListener(listener, headerLimit)) // ends with Close
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return listener
}

// TestSlowBodyEndsInTime: a client that sends its body drop by drop, or not at all,
// is told so and let go; whether the request was to be refused anyway or not.
func TestSlowBodyEndsInTime(t *testing.T) {
	for name, c := range map[string]struct {
		head   string
		status int
		within time.Duration // until the answer
	}{
		"never comes":         {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", 408, 30 * time.Second},
		"chunk never comes":   {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", 408, 30 * time.Second},
		"of a GET":            {"GET /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", 408, 30 * time.Second},
		"to nowhere":          {"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", 404, 0},
		"of another method":   {"PUT /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n", 405, 0},
		"from a foreign page": {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\nTransfer-Encoding: chunked\r\n\r\n", 403, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, err := inMemory(t).Dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				began := time.Now()
				if _, err := io.WriteString(conn, c.head); err != nil {
					t.Fatal(err)
				}
				reader := bufio.NewReader(conn)
				response, err := http.ReadResponse(reader, nil)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if took := time.Since(began); response.StatusCode != c.status || !response.Close || took > c.within {
					t.Errorf("got %d, closing %v, after %v, want %d, closing, within %v", response.StatusCode, response.Close, took, c.status, c.within)
				}
				_, _ = io.Copy(io.Discard, reader)
				if took := time.Since(began); took > 31*time.Second {
					t.Errorf("the connection lived for %v", took)
				}
			})
		})
	}
}

// TestReaderThatStallsIsCutOff: what it does not take is not piled up, and its
// exchange with the upstream ends.
func TestReaderThatStallsIsCutOff(t *testing.T) {
	var written atomic.Int64
	ended := make(chan struct{})
	b := start(t, setup{
		handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			event := "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"" + strings.Repeat("x", 8<<10) + "\"}}\n\n"
			for r.Context().Err() == nil {
				n, err := io.WriteString(w, event)
				written.Add(int64(n))
				if err != nil {
					return
				}
			}
		}),
		options: func(o *proxy.Options) { o.Limits.WriteStall = 100 * time.Millisecond },
	})
	conn := b.dial()
	body := modernMessage("tools/call", `"name":"x"`)
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Protocol-Version: 2026-07-28\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the upstream is still being read")
	}
	// Socket buffers of the kernel, on both sides of berth.
	if n := written.Load(); n > 32<<20 {
		t.Errorf("the upstream could write %d bytes to nobody", n)
	}
	rest, err := io.Copy(io.Discard, conn)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection is still open after %d bytes", rest)
	}
}

// TestStreamOutlivesTheBodysDeadline: the time given to a request's body must not
// end an answer that takes longer.
func TestStreamOutlivesTheBodysDeadline(t *testing.T) {
	const bodyRead = 100 * time.Millisecond
	b := start(t, setup{
		options: func(o *proxy.Options) { o.Limits.BodyRead = bodyRead },
		handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			select {
			case <-r.Context().Done():
			case <-time.After(5 * bodyRead):
				w.WriteHeader(http.StatusAccepted)
			}
		}),
	})
	for _, r := range []reply{b.modern("tools/call", "x", `"name":"x"`), b.send(http.MethodGet, "/mcp", "{}", "Mcp-Protocol-Version", "2026-07-28")} {
		if r.status != http.StatusAccepted {
			t.Errorf("got %v, want 202", r)
		}
	}
}
