package server

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/wire"
)

// serves is a handler that is a function.
type serves func(w wire.Client, r *wire.Request) bool

func (f serves) Serve(w wire.Client, r *wire.Request) bool { return f(w, r) }

// listen serves on loopback until the test ends.
func listen(tb testing.TB, o Options) (s *Server, addr string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return serveOn(tb, o, l), l.Addr().String()
}

func serveOn(tb testing.TB, o Options, l net.Listener) *Server {
	s := New(o)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	tb.Cleanup(func() {
		s.Close()
		if err := <-done; err != ErrClosed {
			tb.Errorf("Serve: %v, want %v", err, ErrClosed)
		}
		<-s.whenEmpty()
	})
	return s
}

// dial connects to addr; whatever the test waits for, it waits 10 s at most.
func dial(tb testing.TB, addr string) *net.TCPConn {
	tb.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(10 * time.Second))
	tb.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// handoff is a listener for connections made in memory.
type handoff struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newHandoff() *handoff { return &handoff{conns: make(chan net.Conn), done: make(chan struct{})} }

func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

func (h *handoff) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

func (*handoff) Addr() net.Addr { return &net.TCPAddr{} }

// script is a connection whose client has said all it will say: reads deliver at most step bytes of it at
// a time.
type script struct {
	step   int
	closed chan struct{}
	once   sync.Once

	mu  sync.Mutex // guards the fields below
	in  string
	out strings.Builder
}

func (s *script) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.step)], s.in)
	s.in = s.in[n:]
	return n, nil
}

func (s *script) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(p)
}

func (s *script) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (*script) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*script) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*script) SetDeadline(time.Time) error      { return nil }
func (*script) SetReadDeadline(time.Time) error  { return nil }
func (*script) SetWriteDeadline(time.Time) error { return nil }

// play says raw to a server in pieces of step bytes, and returns what it answers until it closes, all dates
// being one.
func play(front *handoff, raw string, step int) string {
	s := &script{step: step, closed: make(chan struct{}), in: raw}
	front.conns <- s
	<-s.closed
	return dates.ReplaceAllString(s.out.String(), "Date: D\r\n")
}

var dates = regexp.MustCompile(`Date: [^\r\n]* GMT\r\n`)

// statuses returns the status codes of the answers in r.
func statuses(r io.Reader) string {
	var codes []string
	in := bufio.NewReader(r)
	for {
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return strings.Join(codes, " ")
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			codes = append(codes, "broken")
		}
		codes = append(codes, answer.Status[:3])
	}
}

// await fails the test if event does not come.
func await(tb testing.TB, what string, event <-chan struct{}) {
	tb.Helper()
	select {
	case <-event:
	case <-time.After(10 * time.Second):
		tb.Fatalf("%s: did not come", what)
	}
}

var _ context.Context = (*departure)(nil)
