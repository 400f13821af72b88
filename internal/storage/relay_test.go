package storage_test

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// relay stands between a store and its Redis and worsens the line.
type relay struct {
	addr string

	delay  time.Duration // before each piece of an answer
	rate   int           // bytes of answer a second; 0: no limit
	config *tls.Config   // TLS towards the store; nil: none

	mute     atomic.Bool  // answers are read and thrown away
	accepted atomic.Int64 // connections

	upstream string
	running  sync.WaitGroup
	mu       sync.Mutex // guards conns
	conns    []net.Conn
}

// start listens and relays until the end of the test.
func (r *relay) start(t *testing.T, upstream string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("relay: %v", err)
	}
	r.addr, r.upstream = listener.Addr().String(), upstream
	if r.config != nil {
		listener = tls.NewListener(listener, r.config)
	}
	r.running.Go(func() { r.serve(listener) })
	t.Cleanup(func() {
		_ = listener.Close()
		r.cut()
		r.running.Wait()
	})
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
		r.accepted.Add(1)
		r.mu.Lock()
		r.conns = append(r.conns, client, server)
		r.mu.Unlock()
		r.running.Go(func() { r.copy(server, client, func(int) bool { return true }) })
		r.running.Go(func() { r.copy(client, server, r.answer) })
	}
}

// copy relays one direction; pass may wait, and says whether a piece goes on.
func (r *relay) copy(to, from net.Conn, pass func(size int) bool) {
	defer to.Close()
	buffer := make([]byte, 512)
	for {
		n, err := from.Read(buffer)
		if n > 0 && pass(n) {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *relay) answer(size int) bool {
	wait := r.delay
	if r.rate > 0 {
		wait += time.Duration(size) * time.Second / time.Duration(r.rate)
	}
	if wait > 0 {
		<-time.After(wait)
	}
	return !r.mute.Load()
}

// cut closes every connection.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.conns {
		_ = conn.Close()
	}
	r.conns = nil
}
