package framing

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// script is a connection whose client has said all it will say: reads deliver
// at most step bytes of it at a time.
type script struct {
	step   int
	closed chan struct{}

	mu   sync.Mutex // guards the fields below
	in   []byte
	out  bytes.Buffer
	seen []request
	once bool
}

// request is what a handler saw of one.
type request struct {
	method, target, host, body string
	whole                      bool // the body ended where its framing said
}

func newScript(in []byte, step int) *script {
	return &script{in: in, step: step, closed: make(chan struct{})}
}

func (s *script) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.in) == 0 || s.once {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.once {
		s.once = true
		close(s.closed)
	}
	return nil
}

func (*script) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (*script) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (*script) SetDeadline(time.Time) error      { return nil }
func (*script) SetReadDeadline(time.Time) error  { return nil }
func (*script) SetWriteDeadline(time.Time) error { return nil }

// handoff is a listener for connections made in memory.
type handoff struct {
	conns chan net.Conn
	done  chan struct{}
}

func newHandoff() *handoff { return &handoff{make(chan net.Conn), make(chan struct{})} }

func (h *handoff) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

func (h *handoff) Close() error { close(h.done); return nil }

func (*handoff) Addr() net.Addr { return &net.TCPAddr{} }

type scriptKey struct{}

// record notes the request in its script and answers 200, or 400 if the body
// did not end well.
func record(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s := r.Context().Value(scriptKey{}).(*script)
	s.mu.Lock()
	s.seen = append(s.seen, request{r.Method, r.RequestURI, r.Host, string(body), err == nil})
	s.mu.Unlock()
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

// scriptOf is an http.Server's ConnContext that tells record the script.
func scriptOf(ctx context.Context, c net.Conn) context.Context {
	if gated, ok := c.(*conn); ok {
		c = gated.Conn
	}
	return context.WithValue(ctx, scriptKey{}, c)
}

// scripted starts net/http's server behind NewListener; run plays a script
// to its end.
func scripted(tb testing.TB) (run func(*script)) {
	front := newHandoff()
	srv := &http.Server{
		Handler:     http.HandlerFunc(record),
		ErrorLog:    log.New(io.Discard, "", 0),
		ConnContext: scriptOf,
	}
	go srv.Serve(NewListener(front, 0))
	tb.Cleanup(func() { srv.Close() })
	return func(s *script) {
		front.conns <- s
		<-s.closed
	}
}

// serve starts net/http's server behind NewListener on loopback.
func serve(tb testing.TB, maxHeader int, srv *http.Server) (addr string) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	srv.ErrorLog = log.New(io.Discard, "", 0)
	go srv.Serve(NewListener(inner, maxHeader))
	tb.Cleanup(func() { srv.Close() })
	return inner.Addr().String()
}

// dial connects to addr; whatever the test waits for, it waits 10 s at most.
func dial(tb testing.TB, addr string) *net.TCPConn {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(10 * time.Second))
	tb.Cleanup(func() { c.Close() })
	return c.(*net.TCPConn)
}

// statuses returns the status codes of the answers in r.
func statuses(tb testing.TB, r io.Reader) string {
	var codes []string
	in := bufio.NewReader(r)
	for {
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			return strings.Join(codes, " ")
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			tb.Errorf("answer %d: %v", len(codes)+1, err)
		}
		codes = append(codes, fmt.Sprint(answer.StatusCode))
	}
}
