package redistest

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Relay stands between a client and its server and worsens the line. The zero value
// passes everything on. Set the exported fields before Start.
type Relay struct {
	// Delay passes before each piece of an answer goes on.
	Delay time.Duration

	// Rate is how many bytes of answer go on in a second; 0: any number.
	Rate int

	// TLS is spoken towards the client; nil: none is.
	TLS *tls.Config

	// Mute makes the relay throw answers away; it may be set at any time.
	Mute atomic.Bool

	addr     string
	accepted atomic.Int64 // connections
	running  sync.WaitGroup
	mu       sync.Mutex // guards the fields below
	upstream string
	conns    []net.Conn
}

// Start listens on loopback and relays to upstream, a host:port, until the end of
// the test.
func (r *Relay) Start(t testing.TB, upstream string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("relay: %v", err)
	}
	r.addr = listener.Addr().String()
	r.Turn(upstream)
	if r.TLS != nil {
		listener = tls.NewListener(listener, r.TLS)
	}
	r.running.Go(func() { r.serve(listener) })
	t.Cleanup(func() {
		_ = listener.Close()
		r.Cut()
		r.running.Wait()
	})
}

// Turn makes new connections lead to upstream. Those that stand stay where they are.
func (r *Relay) Turn(upstream string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.upstream = upstream
}

func (r *Relay) leadsTo() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.upstream
}

// Addr is the host:port that a started relay listens on.
func (r *Relay) Addr() string { return r.addr }

// Accepted is how many connections were made so far.
func (r *Relay) Accepted() int64 { return r.accepted.Load() }

func (r *Relay) serve(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", r.leadsTo())
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
func (r *Relay) copy(to, from net.Conn, pass func(size int) bool) {
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

func (r *Relay) answer(size int) bool {
	wait := r.Delay
	if r.Rate > 0 {
		wait += time.Duration(size) * time.Second / time.Duration(r.Rate)
	}
	if wait > 0 {
		<-time.After(wait)
	}
	return !r.Mute.Load()
}

// Cut closes every connection. New ones can be made.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.conns {
		_ = conn.Close()
	}
	r.conns = nil
}
