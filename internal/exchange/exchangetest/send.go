package exchangetest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func testRefusedIsNotSent(t *testing.T, s subject) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	failed := Fails(t, s.client(t), Post(t, t.Context(), server.URL, "{}"), 0)
	Is(t, failed, false, true, false)
}

func testConnectionThatIsNotMadeInTimeIsNotSent(t *testing.T, s subject) {
	server := Upstream(t, func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") })
	c := s.of(t, Dialling{Connect: time.Nanosecond})
	Is(t, Fails(t, c, Post(t, t.Context(), server.URL, "{}"), 0), false, false, true)
}

// What was cut off after the request had left may be running.
func testResetAfterTheRequestIsSent(t *testing.T, s subject) {
	u := NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool { return Reset(conn) })
	Is(t, Fails(t, s.client(t), Post(t, t.Context(), u.URL, "{}"), 0), true, false, false)
	if got := u.Requests.Load(); got != 1 {
		t.Errorf("requests: got %d, want 1", got)
	}
}

func testCertificateThatIsNotTrustedIsNotSent(t *testing.T, s subject) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request arrived") }))
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	defer server.Close()
	Is(t, Fails(t, s.client(t), Post(t, t.Context(), server.URL, "{}"), 0), false, false, false)
}

// net/http repeats what looks harmless when a kept connection dies. A tool that
// was called with an Idempotency-Key ran twice.
func testNoRequestIsSentTwice(t *testing.T, s subject) {
	for name, request := range map[string]func(ctx context.Context, url string) (*http.Request, error){
		"POST": func(ctx context.Context, url string) (*http.Request, error) {
			return Post(t, ctx, url, `{"method":"tools/call"}`), nil
		},
		"GET": func(ctx context.Context, url string) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		},
		"DELETE": func(ctx context.Context, url string) (*http.Request, error) {
			return http.NewRequestWithContext(ctx, http.MethodDelete, url, http.NoBody)
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := NewRude(t, func(n int64, conn *net.TCPConn, _ *http.Request) bool { return n != 2 && Polite(conn) })
			c := s.client(t)
			response, err := Send(c, Post(t, t.Context(), u.URL, "{}"), 0)
			Swallow(t, response, err)
			r, err := request(t.Context(), u.URL)
			if err != nil {
				t.Fatalf("NewRequest: %v", err)
			}
			r.Header.Set("Idempotency-Key", "1")
			Is(t, Fails(t, c, r, 0), true, false, false)
			if got := u.Requests.Load(); got != 2 {
				t.Errorf("requests: got %d, want 2: one to open the connection, one that broke", got)
			}
		})
	}
}

// What keeps net/http from repeating must not give a body to what has none.
func testBodilessRequestsStayBodiless(t *testing.T, s subject) {
	server := Upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 0 || len(r.TransferEncoding) != 0 || r.Header.Get("Content-Length") != "" {
			t.Errorf("%s: got length %d, transfer encoding %v", r.Method, r.ContentLength, r.TransferEncoding)
		}
	})
	c := s.client(t)
	for _, method := range []string{http.MethodGet, http.MethodDelete, http.MethodOptions, http.MethodHead} {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
		if err != nil {
			t.Fatalf("NewRequest: %v", err)
		}
		response, err := Send(c, r, 0)
		Swallow(t, response, err)
	}
}

func testRedirectsAreNotFollowed(t *testing.T, s subject) {
	c := s.client(t)
	for _, status := range []int{http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		server := Upstream(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/mcp" {
				t.Errorf("%d: followed to %s", status, r.URL.Path)
			}
			http.Redirect(w, r, "/elsewhere", status)
		})
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			r := Post(t, t.Context(), server.URL+"/mcp", "{}")
			r.Method = method
			response, err := Send(c, r, 0)
			Swallow(t, response, err)
			if response.Status != status {
				t.Errorf("%s: got status %d, want %d", method, response.Status, status)
			}
		}
	}
}

func testClientWhoLeavesIsNoTimeout(t *testing.T, s subject) {
	arrived := make(chan struct{})
	server := Upstream(t, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		hangUp(r)
	})
	why := errors.New("the client left")
	ctx, leave := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		leave(why)
	}()
	failed := Fails(t, s.client(t), Post(t, ctx, server.URL, "{}"), 0)
	Is(t, failed, true, false, false)
	if !errors.Is(failed, why) {
		t.Errorf("cause: got %v, want %v", failed, why)
	}
}
