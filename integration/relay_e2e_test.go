//go:build e2e

package integration

import (
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// relay stands between berth and its Redis and makes every answer late.
type relay struct {
	addr     string
	upstream string
	delay    time.Duration // before each piece of an answer

	running sync.WaitGroup
	mu      sync.Mutex // guards conns
	conns   []net.Conn
}

// startRelay relays to upstream until the end of the test.
func startRelay(t testing.TB, upstream string, delay time.Duration) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{addr: listener.Addr().String(), upstream: upstream, delay: delay}
	r.running.Go(func() { r.serve(listener) })
	t.Cleanup(func() {
		_ = listener.Close()
		r.cut()
		r.running.Wait()
	})
	return r
}

func (r *relay) serve(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.upstream)
		if err != nil {
			_ = client.Close()
			continue
		}
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		r.running.Go(func() {
			defer server.Close()
			_, _ = io.Copy(server, client) // either side may leave
		})
		r.running.Go(func() { r.answer(client, server) })
	}
}

func (r *relay) answer(client, server net.Conn) {
	defer client.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		<-time.After(r.delay)
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.conns {
		_ = conn.Close()
	}
}
