package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"berth/internal/realtest"
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
		realtest.Eventually(t, "the client's writes to fail", func() bool { _, err := conn.Write([]byte("x")); return err != nil })
	}
	// What is read after the answer, so that it reaches a client that goes on sending, and what the kernel buffers is no memory of berth's.
	if n := sent.Load(); n > 8*bodyLimit {
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

// A body that ends in something that is no body is refused in words: it must not
// look as if its client had left, nor as if it had been served.
func TestBodyThatBreaksOffIsRefused(t *testing.T) {
	b := start(t, setup{})
	for name, body := range map[string]string{
		"trailer that names a routing header": "28\r\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r\n0\r\nMcp-Name: 1\r\n\r\n",
		"chunk without a size":                "zz\r\n",
	} {
		if r := b.raw("POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + body); r.status != 400 {
			t.Errorf("%s: got %v, want 400", name, r)
		}
	}
	if n := b.contacted(); n != 0 {
		t.Errorf("%d requests reached an upstream", n)
	}
}
