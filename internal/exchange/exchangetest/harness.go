package exchangetest

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

	"berth/internal/exchange"
	"berth/internal/wire"
)

// Rude is an upstream that answers some requests and breaks the connection under
// others.
type Rude struct {
	URL      string
	Requests atomic.Int64 // that came whole

	running sync.WaitGroup
	mu      sync.Mutex // guards conns
	conns   []net.Conn
}

// NewRude serves each connection with answer, until that returns false or the
// client closes it. How a connection ends then is answer's choice.
func NewRude(t *testing.T, answer func(n int64, conn *net.TCPConn, r *http.Request) bool) *Rude {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	u := &Rude{URL: "http://" + listener.Addr().String() + "/mcp"}
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

func (u *Rude) serve(conn *net.TCPConn, answer func(n int64, conn *net.TCPConn, r *http.Request) bool) {
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
		if !answer(u.Requests.Add(1), conn, r) {
			return
		}
	}
}

// Polite is the whole of an answer on a connection that stays.
func Polite(conn net.Conn) bool {
	_, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	return err == nil
}

// Reset ends a connection with RST instead of FIN.
func Reset(conn *net.TCPConn) bool {
	_ = conn.SetLinger(0)
	return false
}

// Upstream serves handler until the end of the test.
func Upstream(t *testing.T, handler http.HandlerFunc) *httptest.Server {
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

// Post is a request with a body that net/http could get again, were it let to.
func Post(t *testing.T, ctx context.Context, url, body string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		t.Fatalf("NewRequest: %v", err)
	}
	return r
}

// Swallow reads an answer to its end.
func Swallow(t *testing.T, response *wire.Response, err error) {
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

// Fails sends r, which must fail, and returns how.
func Fails(t *testing.T, c exchange.Sender, r *http.Request, wait time.Duration) *exchange.SendError {
	t.Helper()
	response, err := Send(c, r, wait)
	if err == nil {
		response.Body.Close()
		t.Fatalf("Send: got status %d, want an error", response.Status)
	}
	var failed *exchange.SendError
	if !errors.As(err, &failed) {
		t.Fatalf("Send: got %T %v, want a exchange.SendError", err, err)
	}
	return failed
}

// Is fails the test unless e says what is wanted of it.
func Is(t *testing.T, e *exchange.SendError, sent, refused, timedOut bool) {
	t.Helper()
	if e.Sent != sent || e.Refused != refused || e.TimedOut != timedOut {
		t.Errorf("got sent %v, refused %v, timed out %v (%v), want %v, %v, %v",
			e.Sent, e.Refused, e.TimedOut, e, sent, refused, timedOut)
	}
}

// Send sends what a client of net/http would have.
func Send(c exchange.Sender, r *http.Request, wait time.Duration) (*wire.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body) // of memory
	}
	return c.Send(r.Context(), &exchange.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: wire.FromLists(r.Header), Body: body}, wait)
}
