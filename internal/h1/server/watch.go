package server

import (
	"errors"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"berth/internal/h1/buffer"
	"berth/internal/h1/lookout"
)

// watch waits for a client to hang up by reading: where TLS is spoken, since a client may take its leave there and leave
// the connection open, and where the lookout sees no connection. Where it does, nobody reads before something has come.
type watch struct {
	conn  *conn
	gone  func()
	state atomic.Int32
	over  chan struct{} // closed when nobody reads any more
	one   [1]byte       // of the next request, which has to be read to see that there is none
	came  bool
}

// States of a watch.
const (
	waiting int32 = iota // for something to come
	reading
	stopped
)

// longAgo is a deadline at which nobody waits.
var longAgo = time.Unix(1, 0)

// watch has gone called, in a goroutine that is not the caller's, when the client hangs up, until its watch is stopped. nil: the
// lookout sees that.
func (c *conn) watch(gone func()) *watch {
	if c.tls == nil && c.comesIntoView(lookout.Leaving) {
		c.server.lookout.Watch(c.sighting, gone)
		return nil
	}
	w := &watch{conn: c, gone: gone, over: make(chan struct{})}
	switch {
	case c.tls == nil || !c.comesIntoView(lookout.Arriving):
		c.reading.lift()
		w.begin()
	case w.isQuiet():
		c.reading.lift()
		w.await()
	}
	return w
}

// comesIntoView has the lookout see the connection from its first watch on, if that can be.
func (c *conn) comesIntoView(of lookout.Sight) bool {
	if c.sighting == nil {
		if raw := rawOf(c); raw != nil {
			c.sighting = c.server.lookout.View(raw, of)
		}
	}
	return c.sighting != nil
}

// isQuiet reports whether the client has said nothing yet: TLS may have read it with what came before, so that the
// kernel has nothing to show. The look is no system call.
func (w *watch) isQuiet() bool {
	w.conn.reading.exactly(longAgo)
	n, err := w.conn.net.Read(w.one[:])
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	w.state.Store(stopped)
	close(w.over)
	if w.came = n > 0; w.came {
		w.goOnBeneath()
	} else {
		go w.gone()
	}
	return false
}

// await begins to read when something comes.
func (w *watch) await() {
	if !w.looksFor(lookout.Arriving, w.begin) {
		w.begin()
	}
}

// looksFor has tell called when that is seen of the connection. It reports false if that cannot be.
func (w *watch) looksFor(of lookout.Sight, tell func()) bool {
	l, s := &w.conn.server.lookout, w.conn.sighting
	if s == nil {
		return false
	}
	raw := rawOf(w.conn)
	if raw == nil || !l.Again(raw, s, of) {
		return false
	}
	l.Watch(s, tell)
	return true
}

// begin begins to read, unless the watch is over or reads already. The connection has no deadline.
func (w *watch) begin() {
	if w.state.CompareAndSwap(waiting, reading) {
		go w.read()
	}
}

// read sees the client go by reading. Meanwhile nobody else reads the connection.
func (w *watch) read() {
	defer close(w.over)
	n, err := w.conn.net.Read(w.one[:])
	if n > 0 {
		w.came = true
		w.goOnBeneath()
		return
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		w.gone()
	}
}

// goOnBeneath has the end of a connection be seen whose client has said more, of which no more can be read for now: that of what is
// beneath TLS.
func (w *watch) goOnBeneath() { w.looksFor(lookout.Leaving, w.gone) }

// stop leaves the connection to who reads it.
func (w *watch) stop() {
	if !w.state.CompareAndSwap(waiting, stopped) {
		w.conn.reading.exactly(longAgo)
		<-w.over
		if w.came {
			w.conn.in.Add(w.one[0])
		}
	}
	if w.conn.sighting != nil {
		w.conn.server.lookout.Watch(w.conn.sighting, nil)
	}
}

// stopWatching leaves the connection to who reads it. w is what watch returned.
func (c *conn) stopWatching(w *watch) {
	if w != nil {
		w.stop()
		return
	}
	c.server.lookout.Watch(c.sighting, nil)
}

// rawOf is the kernel's connection, beneath TLS too; nil: there is none.
func rawOf(c *conn) syscall.RawConn {
	beneath := c.net
	if s, ok := beneath.(secure); ok {
		beneath = s.NetConn()
	}
	plain := buffer.Plain(beneath)
	if plain == nil {
		return nil
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
