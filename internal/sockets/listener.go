package sockets

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// socket is what is asked of a listener of package net.
type socket interface {
	net.Listener
	syscall.Conn
	SetDeadline(time.Time) error
}

// mostQueued bounds how many connections are accepted while a listener closes: of a flood some are
// refused.
const mostQueued = 1 << 14

// Listener hands out what is queued before it closes. It is for one goroutine that accepts; Close
// may be called by any.
type Listener struct {
	socket
	shared bool
	reuse  bool // by SO_REUSEPORT
	probes probes

	begun   time.Time    // a moment before it listens
	since   atomic.Int64 // when Accept returned last, in nanoseconds since then; 0: it waits
	leave   sync.Once
	left    chan struct{}     // closed by Close
	pending []net.Conn        // that were queued when it closed; Accept's
	queued  func() []net.Conn // empties the queue
}

func newListener(s socket, shared bool) *Listener {
	l := &Listener{socket: s, shared: shared, begun: time.Now().Add(-1), left: make(chan struct{})}
	l.queued = l.empty
	return l
}

// Shared reports whether another process may listen at the same address: to leave it to that one
// this one has to close, not to say that it goes.
func (l *Listener) Shared() bool { return l.shared }

// Close has Accept return what is queued, and then net.ErrClosed. The socket is closed by the
// Accept that finds the queue empty. Where another process listens at the same address by
// SO_REUSEPORT, what comes is sent there first, while Accept goes on for a moment.
func (l *Listener) Close() error {
	l.leave.Do(func() {
		if !l.reuse {
			l.end()
			return
		}
		go func() {
			l.steerAway()
			l.end()
		}()
	})
	return nil
}

func (l *Listener) end() {
	close(l.left)
	_ = l.SetDeadline(time.Unix(1, 0)) // wakes Accept
}

// Stuck reports that nobody has come back to accept connections for that long.
func (l *Listener) Stuck(long time.Duration) bool {
	since := l.since.Load()
	return since != 0 && !l.isLeft() && time.Since(l.begun)-time.Duration(since) > long
}

// Accept waits for the next connection.
func (l *Listener) Accept() (net.Conn, error) {
	l.since.Store(0)
	defer func() { l.since.Store(int64(time.Since(l.begun))) }()
	for !l.isLeft() {
		conn, err := l.socket.Accept()
		if err == nil && l.probes.take(conn) {
			continue
		}
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return conn, err
		}
	}
	if l.queued != nil {
		l.pending = l.queued()
		l.queued = nil
		_ = l.socket.Close() // nothing is left in it
	}
	if len(l.pending) == 0 {
		return nil, net.ErrClosed
	}
	conn := l.pending[0]
	l.pending = l.pending[1:]
	return conn, nil
}

func (l *Listener) isLeft() bool {
	select {
	case <-l.left:
		return true
	default:
		return false
	}
}
