package server

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"berth/internal/wire"
)

// secured serves over TLS on loopback, with the certificate of httptest.
func secured(t *testing.T, o Options) (addr string, client *tls.Config) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, client := lent(t)
	serveOn(t, o, tls.NewListener(l, server))
	return l.Addr().String(), client
}

// lent are both sides of TLS with the certificate of httptest.
func lent(t *testing.T) (server, client *tls.Config) {
	lender := httptest.NewTLSServer(nil)
	lender.Close()
	pool := x509.NewCertPool()
	pool.AddCert(lender.Certificate())
	return &tls.Config{Certificates: lender.TLS.Certificates, ClientAuth: tls.RequireAnyClientCert},
		&tls.Config{RootCAs: pool, Certificates: lender.TLS.Certificates, ServerName: "example.com"}
}

func TestRequestsOverTLS(t *testing.T) {
	ended, left := make(chan error, 9), make(chan struct{})
	addr, config := secured(t, Options{
		HeaderRead: time.Minute, Idle: time.Minute, HandshakeEnded: func(_ net.Addr, err error) { ended <- err },
		Handler: serves(func(w wire.Client, r *wire.Request) bool {
			if r.TLS == nil || !r.TLS.HandshakeComplete || len(r.TLS.PeerCertificates) != 1 {
				t.Errorf("TLS: %v", r.TLS)
			}
			switch r.URL.Path {
			case "/watch":
				select {
				case <-r.Context().Done():
					t.Error("left")
				case <-time.After(time.Millisecond):
				}
			case "/leave":
				<-r.Context().Done()
				close(left)
			}
			b, _ := io.ReadAll(r.Body)
			w.Write(b)
			return true
		})})
	c := tls.Client(dial(t, addr), config)
	io.WriteString(c, post("/", "Content-Length: 5\r\n", "hello")+get("/watch")+get("/watch"))
	io.WriteString(c, get("/watch")+post("/", "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", ""))
	if got := statuses(c); got != "200 200 200 200 400" {
		t.Errorf("got %q", got)
	}
	if err := <-ended; err != nil {
		t.Errorf("handshake: %v", err)
	}
	c = tls.Client(dial(t, addr), config)
	io.WriteString(c, get("/leave"))
	c.Close()
	await(t, "the departure", left)
}

// What asks for a client's departure while the body comes takes nothing of it, nor of the next request.
func TestADepartureOverTLSIsAwaitedBehindTheBody(t *testing.T) {
	asked := make(chan struct{}, 9)
	addr, config := secured(t, Options{HeaderRead: time.Minute, Idle: time.Minute, Handler: serves(func(w wire.Client, r *wire.Request) bool {
		done := r.Context().Done()
		time.Sleep(10 * time.Millisecond) // a watch that began now would take what comes first
		asked <- struct{}{}
		b, err := io.ReadAll(r.Body)
		if r.URL.Path == "/wait" {
			asked <- struct{}{}
			select {
			case <-done:
				t.Error("left")
			case <-time.After(10 * time.Millisecond): // the watch takes what comes
			}
		}
		if said := r.Method + " " + string(b); said != "POST hello" && said != "POST hi" && said != "GET " {
			t.Errorf("got %q", said)
		}
		return err == nil
	})})
	c := tls.Client(dial(t, addr), config)
	io.WriteString(c, post("/", "Content-Length: 5\r\n", "h"))
	<-asked
	io.WriteString(c, "ello"+post("/wait", "Content-Length: 2\r\n", "hi"))
	<-asked
	<-asked
	io.WriteString(c, get("/"))
	c.CloseWrite()
	if got := statuses(c); got != "200 200 200" {
		t.Errorf("got %q", got)
	}
}

func TestPlainHTTPOnATLSPortIsAnswered(t *testing.T) {
	ended := make(chan error, 1)
	addr, _ := secured(t, Options{Handler: silent, HandshakeEnded: func(_ net.Addr, err error) { ended <- err }})
	c := dial(t, addr)
	io.WriteString(c, "GET / HTTP/1.1\r\n")
	if b, _ := io.ReadAll(c); !strings.HasPrefix(string(b), "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request") {
		t.Errorf("got %q", b)
	}
	if <-ended == nil {
		t.Error("the handshake is told to have ended well")
	}
}

// An answer that its end alone bounds, and that is broken off, does not end over TLS as if it were whole.
func TestAnAnswerUntilTheEndIsBrokenOffOverTLS(t *testing.T) {
	for _, whole := range []bool{true, false} {
		addr, config := secured(t, Options{Handler: serves(func(w wire.Client, r *wire.Request) bool {
			w.Write([]byte("half"))
			w.Flush()
			<-time.After(10 * time.Millisecond)
			return whole
		})})
		conn := tls.Client(dial(t, addr), config)
		io.WriteString(conn, "GET / HTTP/1.0\r\nHost: a\r\n\r\n")
		if b, err := io.ReadAll(conn); (err == nil) != whole {
			t.Errorf("whole %v: got %q, %v", whole, b, err)
		}
	}
}
