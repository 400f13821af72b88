package memnet_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/memnet"
)

// client serves h on a listener named "a" and returns a client that reaches it
// by that name.
func client(t *testing.T, h http.Handler) (*http.Client, *memnet.Listener) {
	t.Helper()
	l := memnet.Listen("a")
	server := &http.Server{Handler: h}
	go server.Serve(l)
	transport := &http.Transport{DialContext: memnet.Dialer(l)}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return &http.Client{Transport: transport}, l
}

func TestFakeTimePassesWhileAnswerIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := client(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Hour)
			io.WriteString(w, r.Host)
		}))
		start := time.Now()
		resp, err := c.Get("http://a/")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || string(body) != "a" {
			t.Fatalf("got %q, %v, want \"a\"", body, err)
		}
		if got := time.Since(start); got != time.Hour {
			t.Errorf("waited %v, want exactly 1h of fake time", got)
		}
	})
}

func TestClosedListenerRefuses(t *testing.T) {
	c, l := client(t, http.NotFoundHandler())
	l.Close()
	if _, err := c.Get("http://a/"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want connection refused", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept: got %v, want %v", err, net.ErrClosed)
	}
}

func TestUnknownNameDoesNotResolve(t *testing.T) {
	c, _ := client(t, http.NotFoundHandler())
	var dns *net.DNSError
	if _, err := c.Get("http://b/"); !errors.As(err, &dns) || !dns.IsNotFound {
		t.Errorf("got %v, want a name that is not found", err)
	}
}

func TestDialWithoutAcceptEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := memnet.Listen("a").Dial(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
	})
}
