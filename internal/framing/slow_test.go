package framing

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Heads that come by 24 bytes every 3 s are cut off by the server's
// ReadHeaderTimeout, on new connections and on kept ones: had the gate held heads
// back until they are whole, the kept ones would live on for the IdleTimeout.
func TestSlowHeadsAreCutOff(t *testing.T) {
	for _, kept := range []bool{false, true} {
		t.Run(map[bool]string{false: "new", true: "kept"}[kept], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { dribble(t, kept) })
		})
	}
}

func dribble(t *testing.T, kept bool) {
	const clients, patience = 200, 6 * time.Second
	front := newHandoff()
	srv := &http.Server{
		Handler:           http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		ReadHeaderTimeout: 5 * time.Second,
		IdleTimeout:       180 * time.Second,
	}
	go srv.Serve(NewListener(front, 0))
	defer srv.Close()
	var open atomic.Int64
	var running sync.WaitGroup
	defer running.Wait()
	for range clients {
		c := connect(front)
		defer c.Close()
		if kept {
			roundTrip(t, c)
		}
		open.Add(1)
		running.Go(func() { trickle(c) })
		running.Go(func() {
			defer open.Add(-1)
			io.Copy(io.Discard, c)
		})
	}
	time.Sleep(patience)
	synctest.Wait()
	if got := open.Load(); got > 0 {
		t.Errorf("%d connections are open after %v, want 0", got, patience)
	}
	c := connect(front)
	defer c.Close()
	roundTrip(t, c)
}

// trickle sends a head that never ends until the connection is closed.
func trickle(c net.Conn) {
	for {
		if _, err := io.WriteString(c, "GET /?"+strings.Repeat("a", 18)); err != nil {
			return
		}
		time.Sleep(3 * time.Second)
	}
}

func connect(front *handoff) net.Conn {
	client, server := net.Pipe()
	front.conns <- server
	return client
}

func roundTrip(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := io.WriteString(c, get); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("got %v, %v, want 200", answer, err)
	}
}
