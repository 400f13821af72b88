package exchange

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"
	"time"
)

func TestRefusedIsNotSent(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	failed := fails(t, newClient(t), post(t, t.Context(), server.URL, "{}"), 0)
	failed.is(t, false, true, false)
}

func TestConnectionThatIsNotMadeInTimeIsNotSent(t *testing.T) {
	server := upstream(t, func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") })
	c := NewClient(time.Nanosecond)
	defer c.Close()
	fails(t, c, post(t, t.Context(), server.URL, "{}"), 0).is(t, false, false, true)
}

// What was cut off after the request had left may be running.
func TestResetAfterTheRequestIsSent(t *testing.T) {
	u := newRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool { return reset(conn) })
	fails(t, newClient(t), post(t, t.Context(), u.url, "{}"), 0).is(t, true, false, false)
	if got := u.requests.Load(); got != 1 {
		t.Errorf("requests: got %d, want 1", got)
	}
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
	u := newRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool { return polite(conn) })
	c := newClient(t)
	response, err := send(c, post(t, t.Context(), u.url, "{}"), 0)
	swallow(t, response, err)
	ctx := underGot(t, func(conn net.Conn) { _ = conn.Close() })
	fails(t, c, post(t, ctx, u.url, "{}"), 0).is(t, false, false, false)
	if got := u.requests.Load(); got != 1 {
		t.Errorf("requests: got %d, want the first only", got)
	}
}

// Bytes of the handshake are none of the request.
func TestHandshakeIsNotTheRequest(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) }))
	defer server.Close()
	c := newClient(t)
	c.transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	response, err := send(c, post(t, t.Context(), server.URL, "{}"), 0)
	swallow(t, response, err)
	ctx := underGot(t, func(conn net.Conn) { _ = conn.(*tls.Conn).NetConn().Close() })
	fails(t, c, post(t, ctx, server.URL, "{}"), 0).is(t, false, false, false)
}

func TestCertificateThatIsNotTrustedIsNotSent(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	defer server.Close()
	fails(t, newClient(t), post(t, t.Context(), server.URL, "{}"), 0).is(t, false, false, false)
}

// By TLS 1.3 a server refuses a certificate when the request may be under way to it.
func TestCertificateThatTheServerRefusesIsNotSent(t *testing.T) {
	written := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	server.Config.ErrorLog = quiet()
	server.TLS = &tls.Config{VerifyConnection: func(tls.ConnectionState) error {
		<-written
		return errors.New("not this one")
	}}
	server.StartTLS()
	defer server.Close()
	c := newClient(t)
	c.transport.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { close(written) }})
	failed := fails(t, c, post(t, ctx, server.URL, "{}"), 0)
	if failed.is(t, false, false, false); failed.Garbled {
		t.Errorf("an answer that is none: %v", failed)
	}
}

// net/http repeats what looks harmless when a kept connection dies. A tool that
// was called with an Idempotency-Key ran twice.
func TestNoRequestIsSentTwice(t *testing.T) {
	for name, request := range map[string]func(ctx context.Context, url string) (*http.Request, error){
		"POST": func(ctx context.Context, url string) (*http.Request, error) {
			return post(t, ctx, url, `{"method":"tools/call"}`), nil
		},
		"GET": func(ctx context.Context, url string) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		},
		"DELETE": func(ctx context.Context, url string) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, http.MethodDelete, url, http.NoBody)
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := newRude(t, func(n int64, conn *net.TCPConn, _ *http.Request) bool { return n != 2 && polite(conn) })
			c := newClient(t)
			response, err := send(c, post(t, t.Context(), u.url, "{}"), 0)
			swallow(t, response, err)
			r, err := request(t.Context(), u.url)
			if err != nil {
				t.Fatalf("NewRequest: %v", err)
			}
			r.Header.Set("Idempotency-Key", "1")
			fails(t, c, r, 0).is(t, true, false, false)
			if got := u.requests.Load(); got != 2 {
				t.Errorf("requests: got %d, want 2: one to open the connection, one that broke", got)
			}
		})
	}
}

// What keeps net/http from repeating must not give a body to what has none.
func TestBodilessRequestsStayBodiless(t *testing.T) {
	server := upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 || len(r.TransferEncoding) != 0 || r.Header.Get("Content-Length") != "" {
			t.Errorf("%s: got length %d, transfer encoding %v", r.Method, r.ContentLength, r.TransferEncoding)
		}
	})
	c := newClient(t)
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodOptions, http.MethodHead} {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
		if err != nil {
			t.Fatalf("NewRequest: %v", err)
		}
		response, err := send(c, r, 0)
		swallow(t, response, err)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	c := newClient(t)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := upstream(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/mcp" {
				t.Errorf("%d: followed to %s", status, r.URL.Path)
			}
			http.Redirect(w, r, "/elsewhere", status)
		})
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			r := post(t, t.Context(), server.URL+"/mcp", "{}")
			r.Method = method
			response, err := send(c, r, 0)
			swallow(t, response, err)
			if response.Status != status {
				t.Errorf("%s: got status %d, want %d", method, response.Status, status)
			}
		}
	}
}

func TestClientWhoLeavesIsNoTimeout(t *testing.T) {
	arrived := make(chan struct{})
	server := upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		hangUp(r)
	})
	why := errors.New("the client left")
	ctx, leave := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		leave(why)
	}()
	failed := fails(t, newClient(t), post(t, ctx, server.URL, "{}"), 0)
	failed.is(t, true, false, false)
	if !errors.Is(failed, why) {
		t.Errorf("cause: got %v, want %v", failed, why)
	}
}
