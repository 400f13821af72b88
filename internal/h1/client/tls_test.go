package client

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
)

// secure is an upstream over TLS, and how it is trusted.
func secure(t *testing.T, config *tls.Config, handler http.HandlerFunc) (*httptest.Server, func(string) *tls.Config) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = config
	server.StartTLS()
	t.Cleanup(server.Close)
	trust := server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	trust.ServerName = "example.com"
	return server, func(string) *tls.Config { return trust.Clone() }
}

func TestConnectionsOverTLSAreKept(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		var mu sync.Mutex
		peers := map[string]bool{}
		server, trust := secure(t, &tls.Config{MaxVersion: version}, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			peers[r.RemoteAddr] = true
			mu.Unlock()
			_, _ = w.Write([]byte("{}"))
		})
		client := New(Options{TLS: trust})
		for _, age := range []bool{false, false, true, true} {
			if age {
				client.age()
			}
			ask(t, client, server.URL, "POST", "{}")
		}
		if len(peers) != 1 {
			t.Errorf("version %x: got %d connections, want 1", version, len(peers))
		}
		server.CloseClientConnections()
		client.age()
		if ask(t, client, server.URL, "POST", "{}"); len(peers) != 2 {
			t.Errorf("version %x: got %d connections, want another", version, len(peers))
		}
		client.Close()
	}
}

// TLS may have read what nobody asked for beside the answer.
func TestWhatNobodyAskedForOverTLS(t *testing.T) {
	server, trust := secure(t, nil, nil)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", server.TLS)
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	defer listener.Close()
	said := make(chan bool)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if _, err := conn.Read(make([]byte, 1<<10)); err != nil {
					return
				}
				_, _ = io.WriteString(conn, two)
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison")
				said <- true
				_, _ = conn.Read(make([]byte, 1))
			}()
		}
	}()
	client := New(Options{TLS: trust})
	defer client.Close()
	for range 20 {
		if _, body := ask(t, client, "https://"+listener.Addr().String()+"/", "POST", "{}"); body != "{}" {
			t.Fatalf("got %q", body)
		}
		<-said
		client.age()
	}
}

// noting is a connection that tells when the request was written.
type noting struct {
	net.Conn
	once    sync.Once
	records int
	written chan struct{}
}

func (n *noting) Write(p []byte) (int, error) {
	written, err := n.Conn.Write(p)
	for len(p) > 5 {
		if p[0] == 23 { // encrypted: the end of the handshake, then the request
			n.records++
		}
		p = p[5+(int(p[3])<<8|int(p[4])):]
	}
	if n.records >= 2 {
		n.once.Do(func() { close(n.written) })
	}
	return written, err
}

// By TLS 1.3 a server refuses a certificate when the request may be under way to it.
func TestACertificateThatTheServerRefusesIsNotSent(t *testing.T) {
	written := make(chan struct{})
	server, trust := secure(t, &tls.Config{VerifyConnection: func(tls.ConnectionState) error {
		<-written
		return errors.New("not this one")
	}}, func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") })
	client := New(Options{TLS: trust, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		var d net.Dialer
		conn, err := d.DialContext(ctx, network, address)
		return &noting{Conn: conn, written: written}, err
	}})
	failed := exchangetest.Fails(t, client, exchangetest.Post(t, t.Context(), server.URL, "{}"), 5*time.Second)
	if exchangetest.Is(t, failed, false, false, false); failed.Garbled {
		t.Errorf("an answer that is none: %v", failed)
	}
}

// Bytes of the handshake are none of the request.
func TestTheHandshakeIsNotTheRequest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("Listen: %v", err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1<<10))
			_ = conn.Close()
		}
	}()
	u := &url.URL{Scheme: "https", Host: listener.Addr().String()}
	_, err = New(Options{}).Send(t.Context(), &exchange.Request{Method: "POST", URL: u, Body: []byte("{}")}, 0)
	failed, ok := errors.AsType[*exchange.SendError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	exchangetest.Is(t, failed, false, false, false)
}
