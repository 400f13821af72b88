package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

// waiting is a stream of an upstream that says what says is sent, and its end when that is closed.
func waiting(t *testing.T) (body io.ReadCloser, says chan<- string) {
	t.Helper()
	return waitingIn(t.Context(), t)
}

func waitingIn(ctx context.Context, t *testing.T) (body io.ReadCloser, says chan<- string) {
	t.Helper()
	said := make(chan string)
	upstream := exchangetest.NewRude(t, func(_ int64, conn *net.TCPConn, _ *http.Request) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for text := range said {
			if _, err := io.WriteString(conn, text); err != nil {
				return false
			}
		}
		return false
	})
	c, _ := counting(t)
	u, err := url.Parse(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.Send(ctx, &exchange.Request{Method: wire.MethodGet, URL: u, Header: new(wire.Header)}, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response.Body, said
}

// begin waits for a body in a goroutine of its own.
func begin(body io.ReadCloser) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		body.(wire.Waiter).Wait()
	}()
	return done
}

func awaitEnd(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("it waits on")
	}
}

// await has a body awaited, as a lookout does it.
func await(t *testing.T, body io.ReadCloser) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	if !body.(wire.Waiter).Await(func() { close(done) }) {
		t.Fatal("it cannot be awaited")
	}
	return done
}

// Who waits for a body wakes by what comes, by its end, and by its being closed.
func TestBodyIsWaitedFor(t *testing.T) {
	body, says := waiting(t)
	done := begin(body)
	says <- "3\r\nabc\r\n"
	awaitEnd(t, done)
	var b [16]byte
	if n, err := body.Read(b[:]); string(b[:n]) != "abc" || err != nil {
		t.Fatalf("read %q, %v", b[:n], err)
	}
	done = begin(body)
	says <- "0\r\n\r\n"
	awaitEnd(t, done)
	if n, err := body.Read(b[:]); n != 0 || err != io.EOF {
		t.Fatalf("read %d, %v, want the end", n, err)
	}
	awaitEnd(t, begin(body)) // of what has ended
	close(says)
}

func TestWhoWaitsForABodyWakesWhenItIsClosed(t *testing.T) {
	body, says := waiting(t)
	done := begin(body)
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, done)
	awaitEnd(t, begin(body))
	close(says)
}

// Who awaits a body hears of what comes, of what had come before, and of its end.
func TestBodyIsAwaited(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no lookout here")
	}
	body, says := waiting(t)
	var b [16]byte
	for _, text := range []string{"abc", "def"} {
		done := await(t, body)
		says <- "3\r\n" + text + "\r\n"
		awaitEnd(t, done)
		if n, err := body.Read(b[:]); string(b[:n]) != text || err != nil {
			t.Fatalf("read %q, %v, want %q", b[:n], err, text)
		}
	}
	says <- "0\r\n\r\n"
	awaitEnd(t, await(t, body))
	if n, err := body.Read(b[:]); n != 0 || err != io.EOF {
		t.Fatalf("read %d, %v, want the end", n, err)
	}
	if body.(wire.Waiter).Await(func() { t.Error("it has ended, and is awaited") }) {
		t.Error("what has ended is awaited")
	}
	close(says)
}

// Who awaits a body hears once that it was closed, and that its upstream or the context is gone.
func TestWhoAwaitsABodyHearsOfItsEnd(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no lookout here")
	}
	for name, end := range map[string]func(body io.ReadCloser, leave, cancel func()){
		"closed":                func(body io.ReadCloser, _, _ func()) { _ = body.Close() },
		"broken off":            func(_ io.ReadCloser, leave, _ func()) { leave() },
		"the context has ended": func(_ io.ReadCloser, _, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			body, says := waitingIn(ctx, t)
			leave := sync.OnceFunc(func() { close(says) })
			t.Cleanup(leave)
			done := await(t, body)
			end(body, leave, cancel)
			awaitEnd(t, done)
			if n, err := body.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Errorf("read %d, %v, want an error", n, err)
			}
		})
	}
}
