package exchange

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/wire"
)

// rude is an upstream that answers some requests and breaks the connection under
// others.
type rude struct {
	url      string
	requests atomic.Int64 // that came whole

	running sync.WaitGroup
	mu      sync.Mutex // guards conns
	conns   []net.Conn
}

// newRude serves each connection with answer, until that returns false or the
// client closes it. How a connection ends then is answer's choice.
func newRude(t *testing.T, answer func(n int64, conn *net.TCPConn, r *http.Request) bool) *rude {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	u := &rude{url: "http://" + listener.Addr().String() + "/mcp"}
	u.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			u.mu.Lock()
			u.conns = append(u.conns, conn)
			u.mu.Unlock()
			u.running.Go(func() { u.serve(conn.(*net.TCPConn), answer) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		u.mu.Lock()
		for _, conn := range u.conns {
			_ = conn.Close()
		}
		u.mu.Unlock()
		u.running.Wait()
	})
	return u
}

func (u *rude) serve(conn *net.TCPConn, answer func(n int64, conn *net.TCPConn, r *http.Request) bool) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		if !answer(u.requests.Add(1), conn, r) {
			return
		}
	}
}

// polite is the whole of an answer on a connection that stays.
func polite(conn net.Conn) bool {
	_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	return err == nil
}

// reset ends a connection with RST instead of FIN.
func reset(conn *net.TCPConn) bool {
	_ = conn.SetLinger(0)
	return false
}

// upstream serves handler until the end of the test.
func upstream(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// hangUp waits for the client of r to go. The server looks for that once the body
// was read.
func hangUp(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

func newClient(t *testing.T) *Client {
	t.Helper()
	c := NewClient(5 * time.Second)
	t.Cleanup(c.Close)
	return c
}

// post is a request with a body that net/http could get again, were it let to.
func post(t *testing.T, ctx context.Context, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatalf("NewRequest: %v", err)
	}
	return r
}

// swallow reads an answer to its end.
func swallow(t *testing.T, response *wire.Response, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("Send: %v", err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatalf("body: %v", err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// fails sends r, which must fail, and returns how.
func fails(t *testing.T, c *Client, r *http.Request, wait time.Duration) *SendError {
	t.Helper()
	response, err := send(c, r, wait)
	if err == nil {
		response.Body.Close()
		t.Fatalf("Send: got status %d, want an error", response.Status)
	}
	var failed *SendError
	if !errors.As(err, &failed) {
		t.Fatalf("Send: got %T %v, want a SendError", err, err)
	}
	return failed
}

// is fails the test unless failed says what is wanted of it.
func (e *SendError) is(t *testing.T, sent, refused, timedOut bool) {
	t.Helper()
	if e.Sent != sent || e.Refused != refused || e.TimedOut != timedOut {
		t.Errorf("got sent %v, refused %v, timed out %v (%v), want %v, %v, %v",
			e.Sent, e.Refused, e.TimedOut, e, sent, refused, timedOut)
	}
}

// send sends what a client of net/http would have.
func send(c *Client, r *http.Request, wait time.Duration) (*wire.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body) // of memory
	}
	return c.Send(r.Context(), &Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: wire.Header(r.Header), Body: body}, wait)
}
