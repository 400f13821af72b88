package redistest

import (
	"bytes"
	"crypto/tls"
	"math/rand/v2"
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

	// LoseOneIn has the relay close the connection in place of one in so many pieces of an
	// answer, by chance: in turn, the same step of a recovery might be hit each time. What was
	// asked for is done, and nobody hears of it. It may be set at any time; 0: never.
	LoseOneIn atomic.Int64

	// LateEvery has every so-manieth piece of an answer be late by 0.1 to 0.6 s, and what
	// comes after it on its connection. It may be set at any time; 0: never.
	LateEvery atomic.Int64

	// Mute makes the relay throw answers away; it may be set at any time.
	Mute atomic.Bool

	// MuteAfter is text; when the server is first asked something with it, Mute is set and Muted
	// closed. Empty: never.
	MuteAfter string

	// Muted is closed by MuteAfter; nil: nobody is told.
	Muted chan struct{}

	// Drop makes the relay throw everything away, both ways; it may be set at any time.
	Drop atomic.Bool

	addr     string
	muting   sync.Once    // by MuteAfter
	accepted atomic.Int64 // connections
	timely   atomic.Int64 // pieces, of which LateEvery counts
	lost     atomic.Int64 // pieces, by LoseOneIn
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

// Lost is how many pieces of answers LoseOneIn has cost so far.
func (r *Relay) Lost() int64 { return r.lost.Load() }

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
		r.running.Go(func() { r.copy(server, client, r.question) })
		r.running.Go(func() { r.copy(client, server, r.answer) })
	}
}

// copy relays one direction; pass may wait, and says what becomes of a piece.
func (r *Relay) copy(to, from net.Conn, pass func(piece []byte) fate) {
	defer to.Close()
	buffer := make([]byte, 512)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			switch pass(buffer[:n]) {
			case goesOn:
				if _, err := to.Write(buffer[:n]); err != nil {
					return
				}
			case endsAll:
				_ = from.Close() // the other direction ends with it
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// fate is what becomes of a piece.
type fate int

const (
	goesOn fate = iota
	vanishes
	endsAll // and the connection with it
)

func (r *Relay) question(piece []byte) fate {
	if r.Drop.Load() {
		return vanishes
	}
	if r.MuteAfter != "" && bytes.Contains(piece, []byte(r.MuteAfter)) {
		r.muting.Do(func() {
			r.Mute.Store(true)
			if r.Muted != nil {
				close(r.Muted)
			}
		})
	}
	return goesOn
}

func (r *Relay) answer(piece []byte) fate {
	wait := r.Delay
	if r.Rate > 0 {
		wait += time.Duration(len(piece)) * time.Second / time.Duration(r.Rate)
	}
	if every := r.LateEvery.Load(); every > 0 && r.timely.Add(1)%every == 0 {
		wait += lateFirst + rand.N(lateMost-lateFirst)
	}
	if wait > 0 {
		<-time.After(wait)
	}
	if r.Mute.Load() || r.Drop.Load() {
		return vanishes
	}
	if many := r.LoseOneIn.Load(); many > 0 && rand.N(many) == 0 {
		r.lost.Add(1)
		return endsAll
	}
	return goesOn
}

// How late a late piece is.
const (
	lateFirst = 100 * time.Millisecond
	lateMost  = 600 * time.Millisecond
)

// Cut closes every connection. New ones can be made.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.conns {
		_ = conn.Close()
	}
	r.conns = nil
}
