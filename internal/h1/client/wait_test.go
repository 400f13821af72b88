package client

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/wire"
)

// waiting is a stream of an upstream that says what says is sent, and its end when that is closed.
func waiting(t *testing.T) (body io.ReadCloser, says chan<- string) {
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
	response, err := c.Send(t.Context(), &exchange.Request{Method: wire.MethodGet, URL: u, Header: new(wire.Header)}, 0)
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
