package doors

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/config"
	"berth/internal/memnet"
	"berth/internal/wire"
)

// TestSlowHeadersAreCutOffWhileOthersAreServed: 200 clients that send 24 bytes of a
// header every three seconds are all gone after six, and keep nobody waiting.
func TestSlowHeadersAreCutOffWhileOthersAreServed(t *testing.T) {
	for _, by := range []string{config.Default().HTTP1, config.HTTP1NetHTTP} {
		t.Run(by, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { slowAndQuick(t, serveInMemory(t, by)) }) })
	}
}

func slowAndQuick(t *testing.T, listener *memnet.Listener) {
	var slow sync.WaitGroup
	for range 200 {
		conn := dial(t, listener)
		slow.Go(func() { drip(t, conn) })
	}
	time.Sleep(2 * time.Second)
	conn := dial(t, listener)
	began := time.Now()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if took := time.Since(began); response.StatusCode != http.StatusNoContent || took > time.Second {
		t.Errorf("meanwhile: got %d after %v, want 204 at once", response.StatusCode, took)
	}
	slow.Wait()
}

// serveInMemory serves with a server of HTTP/1.1, and the limits of a berth in its default
// configuration.
func serveInMemory(t *testing.T, by string) *memnet.Listener {
	t.Helper()
	limits := config.Default().Limits
	o := Options{
		Handler: nothing{}, NetHTTP: by == config.HTTP1NetHTTP, HeaderRead: time.Duration(limits.HeaderRead), Idle: time.Duration(limits.Idle), MaxHead: int(limits.Headers),
		Logger: slog.New(slog.DiscardHandler),
	}
	listener := memnet.Listen("berth")
	server, entrance := HTTP1(o), Open(listener, o).HTTP1
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(entrance) // ends with Close
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return listener
}

// nothing answers 204.
type nothing struct{}

func (nothing) ServeHTTP(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }

func (nothing) Serve(w wire.Client, _ *wire.Request) bool {
	w.WriteHeader(wire.StatusNoContent)
	return true
}

func dial(t *testing.T, listener *memnet.Listener) net.Conn {
	t.Helper()
	conn, err := listener.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// drip sends a header slowly and expects to be cut off within six seconds.
func drip(t *testing.T, conn net.Conn) {
	began, cut := time.Now(), make(chan struct{})
	go func() {
		defer close(cut)
		_, _ = io.Copy(io.Discard, conn)
	}()
	if _, err := io.WriteString(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"); err != nil {
		t.Error(err)
	}
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for range 10 {
		select {
		case <-cut:
			if took := time.Since(began); took > 6*time.Second {
				t.Errorf("cut off after %v, want within 6s", took)
			}
			return
		case <-tick.C:
			// An error says that the end was reached already.
			_, _ = io.WriteString(conn, "X-Slow: aaaaaaaaaaaaaa\r\n")
		}
	}
	t.Error("never cut off")
}
