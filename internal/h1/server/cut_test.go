package server

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"testing"

	"berth/internal/wire"
)

// An answer that its end alone bounds is not whole when the server is closed in the midst of it.
func TestAnAnswerUntilTheEndThatIsCutIsNotWhole(t *testing.T) {
	for _, over := range []string{"TCP", "TLS"} {
		t.Run(over, func(t *testing.T) {
			s := New(Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
				w.Write([]byte("half"))
				w.Flush()
				<-r.Context().Done()
				return false
			})})
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			pair, config := lent(t)
			done := make(chan error, 1)
			var conn net.Conn = dial(t, l.Addr().String())
			if over == "TLS" {
				go func() { done <- s.Serve(tls.NewListener(l, pair)) }()
				conn = tls.Client(conn, config)
			} else {
				go func() { done <- s.Serve(l) }()
			}
			io.WriteString(conn, "GET / HTTP/1.0\r\nHost: a\r\n\r\n")
			in := bufio.NewReader(conn)
			if b, err := in.Peek(1); err != nil {
				t.Fatal(b, err)
			}
			s.Close()
			if b, err := io.ReadAll(in); err == nil {
				t.Errorf("it looks whole: %q", b)
			}
			<-done
			<-s.whenEmpty()
		})
	}
}

// Nor is one whose handler panics.
func TestAnAnswerUntilTheEndWhoseHandlerPanicsIsNotWhole(t *testing.T) {
	_, addr := listen(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
		w.Write([]byte("half"))
		w.Flush()
		panic("a test")
	})})
	conn := dial(t, addr)
	io.WriteString(conn, "GET / HTTP/1.0\r\nHost: a\r\n\r\n")
	if b, err := io.ReadAll(conn); err == nil {
		t.Errorf("it looks whole: %q", b)
	}
}

// One that is whole is left whole while its connection lingers, since its client sends still.
func TestAnAnswerUntilTheEndThatIsWholeIsNotBrokenOff(t *testing.T) {
	s, addr := listen(t, Options{Handler: serves(func(w wire.Client, _ *wire.Request) bool {
		w.Write([]byte("all"))
		w.Flush()
		return true
	})})
	conn := dial(t, addr)
	io.WriteString(conn, "POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 10\r\n\r\n")
	if b, err := io.ReadAll(conn); err != nil {
		t.Fatalf("%q, %v", b, err)
	}
	for _, c := range s.all() {
		if c.unbounded.Load() {
			t.Error("a server that closes now breaks it off")
		}
	}
}
