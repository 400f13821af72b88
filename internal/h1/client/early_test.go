package client

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"berth/internal/exchange/exchangetest"
)

// large is more than any buffer between two processes takes.
var large = strings.Repeat("x", 16<<20)

// who serves one connection with serve.
func who(t *testing.T, serve func(net.Conn, *bufio.Reader)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = conn.Close() })
		serve(conn, bufio.NewReader(conn))
	}()
	return "http://" + listener.Addr().String() + "/"
}

// An upstream may answer before it has read the request, and read no more of it.
func TestAnEarlyAnswer(t *testing.T) {
	to := who(t, func(conn net.Conn, in *bufio.Reader) {
		_, _ = in.ReadString('\n')
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}")
	})
	client, _ := counting(t)
	if status, body := ask(t, client, to, "POST", large); status != 413 || body != "{}" {
		t.Errorf("got %d %q", status, body)
	}
	if client.age() != 0 {
		t.Error("a connection was kept on which half a request was written")
	}
}

func TestALargeRequestGoesOutWhole(t *testing.T) {
	for _, size := range []int{0, 1, 3 << 10, 4 << 10, 5 << 10, together - 300, together, together + 1, 1 << 20, len(large)} {
		u := exchangetest.NewRude(t, func(_ int64, conn *net.TCPConn, r *http.Request) bool {
			return r.ContentLength == int64(size) && exchangetest.Polite(conn)
		})
		if !keepsItsConnection(t, u.URL, large[:size]) {
			t.Errorf("%d bytes: no connection is used again", size)
		}
	}
}

// keepsItsConnection reports whether two requests went over one connection. A connection is closed whose writer does not say for
// a moment that all is written, which a busy machine may take: it has some more tries.
func keepsItsConnection(t *testing.T, url, body string) bool {
	t.Helper()
	for range 10 {
		client, dials := counting(t)
		for range 2 {
			if status, _ := ask(t, client, url, "POST", body); status != 200 {
				t.Errorf("%d bytes: got %d", len(body), status)
			}
		}
		if dials.Load() == 1 {
			return true
		}
	}
	return false
}

// An upstream that reads nothing is given up with the time for its answer, and nobody writes any more then.
func TestAnUpstreamThatReadsNothing(t *testing.T) {
	to := who(t, func(net.Conn, *bufio.Reader) {})
	client, _ := counting(t)
	r := exchangetest.Post(t, t.Context(), to, large)
	exchangetest.Is(t, exchangetest.Fails(t, client, r, 20*time.Millisecond), true, false, true)
}
