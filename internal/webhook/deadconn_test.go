package webhook

import (
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// lossy passes connections on to another address. What comes on the first of them is lost once it is dead, as behind a host that is gone.
type lossy struct {
	net.Listener
	to    string
	dead  atomic.Bool
	count int // run's
}

func (l *lossy) run() {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		l.count++
		other, err := net.Dial("tcp", l.to)
		if err != nil {
			return
		}
		from := func(c net.Conn) io.Reader { return c }
		if l.count == 1 {
			from = func(c net.Conn) io.Reader { return losing{c, &l.dead} }
		}
		go func() { _, _ = io.Copy(other, from(conn)) }()
		go func() { _, _ = io.Copy(conn, from(other)) }()
	}
}

// losing reads nothing any more once it is dead.
type losing struct {
	io.Reader
	dead *atomic.Bool
}

func (l losing) Read(p []byte) (int, error) {
	for {
		n, err := l.Reader.Read(p)
		if err != nil || !l.dead.Load() {
			return n, err
		}
	}
}

// Messages share a connection of HTTP/2. One whose other side is gone without a word is found out, and the next message has another.
func TestADeadConnectionIsFoundOut(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("spoken to by %s", r.Proto)
		}
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	way := &lossy{Listener: listener, to: s.Listener.Addr().String()}
	go way.run()
	c := clientOf(t, "https://"+listener.Addr().String(), loopback)
	root := x509.NewCertPool()
	root.AddCert(s.Certificate())
	c.http.Transport.(*http.Transport).TLSClientConfig.RootCAs = root
	var last Answer
	for sent := range 40 {
		if last = c.Send(t.Context(), Message{ID: "msg_1", Body: []byte(`{}`)}); last.Outcome == Delivered && way.dead.Swap(true) {
			t.Logf("delivered by attempt %d", sent)
			return
		}
	}
	t.Errorf("the last of 40 attempts: %s, %v", last.Outcome, last.Err)
}
