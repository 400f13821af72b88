package framing

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// secured starts a server behind the gate behind TLS on loopback, with the
// certificate of httptest. Its handler writes what it knows of the client.
func secured(t *testing.T) (addr string, client *tls.Config) {
	lender := httptest.NewTLSServer(nil)
	lender.Close()
	pool := x509.NewCertPool()
	pool.AddCert(lender.Certificate())
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.TLS.HandshakeComplete, len(r.TLS.PeerCertificates))
	}))
	srv.Listener.Close()
	srv.Listener = NewListener(tls.NewListener(inner, &tls.Config{
		Certificates: lender.TLS.Certificates,
		ClientAuth:   tls.RequireAnyClientCert,
	}), 0)
	srv.Start()
	t.Cleanup(srv.Close)
	return inner.Addr().String(), &tls.Config{
		RootCAs:      pool,
		Certificates: lender.TLS.Certificates,
		ServerName:   "example.com",
	}
}

func TestRequestKnowsItsTLS(t *testing.T) {
	addr, config := secured(t)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	defer client.CloseIdleConnections()
	answer, err := client.Get("https://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); string(got) != "true 1" {
		t.Errorf("got %q, %v, want a handshake and 1 certificate", got, err)
	}
}

func TestPlainRequestHasNoTLS(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gate := NewListener(tcp, 0)
	defer gate.Close()
	dial(t, tcp.Addr().String())
	c, err := gate.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, ok := c.(interface{ ConnectionState() tls.ConnectionState }); ok {
		t.Error("a plain connection has a TLS state: net/http would set Request.TLS")
	}
}

func TestFailedHandshakeEndsConnection(t *testing.T) {
	addr, _ := secured(t)
	c := dial(t, addr)
	io.WriteString(c, get)
	if got := statuses(t, c); got != "" {
		t.Errorf("plain request to TLS was answered %s, want nothing", got)
	}
}

func TestGateJudgesPlainTextOfTLS(t *testing.T) {
	addr, config := secured(t)
	c := tls.Client(dial(t, addr), config)
	raw := get + post("Content-Length: 5\nTransfer-Encoding: chunked\n", "0\r\n\r\n")
	if _, err := io.WriteString(c, raw); err != nil {
		t.Fatal(err)
	}
	if got := statuses(t, c); got != "200 400" {
		t.Errorf("answers %q, want 200 and 400", got)
	}
}
