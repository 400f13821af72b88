package nethttp_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"berth/internal/wire"
	"berth/internal/wire/nethttp"
)

// ask has a handler answer a request by HTTP/2.
func ask(t *testing.T, h handler) *http.Response {
	t.Helper()
	server := httptest.NewUnstartedServer(nethttp.Carry(h))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	if response.ProtoMajor != 2 {
		t.Fatalf("got %s", response.Proto)
	}
	return response
}

const stalled = 100 * time.Millisecond

// A client has its time for each write, and none of it runs while nothing is written.
func TestAStreamMayBeSilentForLongerThanAWriteMayTake(t *testing.T) {
	t.Parallel()
	response := ask(t, func(w wire.Client, _ *wire.Request) bool {
		for range 3 {
			_ = w.SetWriteDeadline(time.Now().Add(stalled))
			if _, err := w.Write([]byte("event ")); err != nil || w.Flush() != nil {
				t.Errorf("a client that reads is late: %v", err)
			}
			<-time.After(2 * stalled)
		}
		return true
	})
	if body, err := io.ReadAll(response.Body); err != nil || string(body) != "event event event " {
		t.Errorf("got %q, %v", body, err)
	}
}

// One that takes nothing is gone, whether berth writes or net/http does what is left.
func TestAStreamThatTakesNothingIsReset(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	response := ask(t, func(w wire.Client, _ *wire.Request) bool {
		_ = w.SetWriteDeadline(time.Now().Add(stalled))
		_, err := w.Write(make([]byte, 32<<20))
		failed <- err
		return true
	})
	if err := <-failed; err == nil {
		t.Error("32 MiB that nobody takes were written")
	}
	if _, err := io.Copy(io.Discard, response.Body); err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the client is told %v, want that its stream was reset", err)
	}
}
