package exchange_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
)

func TestConformance(t *testing.T) {
	exchangetest.Senders(t, func(d exchangetest.Dialling) exchange.Sender {
		switch {
		case d.TLS != nil:
			return exchange.NewSecureClient(d.Connect, d.TLS)
		case d.Dial != nil:
			return exchange.NewClientOver(d.Dial, d.Connect)
		}
		return exchange.NewClient(d.Connect)
	})
}

func newClient(t *testing.T) *exchange.Client {
	t.Helper()
	c := exchange.NewClient(5 * time.Second)
	t.Cleanup(c.Close)
	return c
}

// underGot is a context in which end is called once the request has a connection
// and before it is written.
func underGot(t *testing.T, end func(net.Conn)) context.Context {
	return httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			t.Error("the connection is a new one")
		}
		end(info.Conn)
	}})
}

// A kept connection that turns out to be closed has taken nothing: the request may
// go elsewhere, even if it calls a tool.
func TestKeptConnectionFoundClosedHasTakenNothing(t *testing.T) {
	u := exchangetest.NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool { return exchangetest.Polite(conn) })
	c := newClient(t)
	response, err := exchangetest.Send(c, exchangetest.Post(t, t.Context(), u.URL, "{}"), 0)
	exchangetest.Swallow(t, response, err)
	ctx := underGot(t, func(conn net.Conn) { _ = conn.Close() })
	exchangetest.Is(t, exchangetest.Fails(t, c, exchangetest.Post(t, ctx, u.URL, "{}"), 0), false, false, false)
	if got := u.Requests.Load(); got != 1 {
		t.Errorf("requests: got %d, want the first only", got)
	}
}

// Bytes of the handshake are none of the request.
func TestHandshakeIsNotTheRequest(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer server.Close()
	c := newClient(t)
	c.Transport().TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	response, err := exchangetest.Send(c, exchangetest.Post(t, t.Context(), server.URL, "{}"), 0)
	exchangetest.Swallow(t, response, err)
	ctx := underGot(t, func(conn net.Conn) { _ = conn.(*tls.Conn).NetConn().Close() })
	exchangetest.Is(t, exchangetest.Fails(t, c, exchangetest.Post(t, ctx, server.URL, "{}"), 0), false, false, false)
}

// By TLS 1.3 a server refuses a certificate when the request may be under way to it.
func TestCertificateThatTheServerRefusesIsNotSent(t *testing.T) {
	written := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{VerifyConnection: func(tls.ConnectionState) error {
		<-written
		return errors.New("not this one")
	}}
	server.StartTLS()
	defer server.Close()
	c := newClient(t)
	c.Transport().TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(written) }})
	failed := exchangetest.Fails(t, c, exchangetest.Post(t, ctx, server.URL, "{}"), 0)
	if exchangetest.Is(t, failed, false, false, false); failed.Garbled {
		t.Errorf("an answer that is none: %v", failed)
	}
}
