package client

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"sync/atomic"
	"time"

	"berth/internal/h1/body"
	"berth/internal/h1/buffer"
	"berth/internal/h1/head"
	"berth/internal/h1/lookout"
	"berth/internal/wire"
)

// conn is a connection to an upstream, lent to one exchange at a time.
type conn struct {
	host   *host
	net    *counted
	secure *tls.Conn // over net; nil: it is plain
	in     buffer.Reader
	heads  *head.Parser // nil: borrowed when there is a head to read
	since  time.Time    // when it was put back, or a little before
	used   bool         // an exchange has ended on it
	one    [1]byte      // for a look at it
	sight  sight        // of the exchange's answer, as it is awaited
	missed atomic.Bool  // something was seen while it was not

	// Of the exchange:
	terms   terms
	before  int64       // bytes that were written before it
	timed   bool        // the head is to be there in time, and is not yet
	late    bool        // it has not come in time
	delayed bool        // it had to wait for c, which was made for it or given back by another
	stop    func() bool // ends the watch over the context; nil: nobody watches
	body    body.Reader
	keep    bool // as far as request and answer say
	place   place
	awaits  atomic.Pointer[answer] // its answer, once that was awaited
	writing

	sighting *lookout.Sighting // nil: the connection was not in view yet

	opening opening // of the last request

	step func(fd uintptr) bool // converse, kept since making it allocates
}

// begin lends c to an exchange.
func (c *conn) begin(t *terms) {
	c.terms, c.before, c.timed = *t, c.net.written.Load(), t.wait > 0
	c.late, c.stop, c.keep = false, nil, true
	if t.wait > 0 && t.wait <= unwatched {
		c.place = place{woken: true}
		c.watch()
		return
	}
	c.host.client.young.join(c)
}

// end takes c back; good: another exchange may use it.
func (c *conn) end(good bool) {
	c.giveHeadsBack()
	good = c.endWriting(good)
	lasted := c.host.client.young.leave(c) || c.stop != nil
	if lasted {
		_ = c.net.SetReadDeadline(time.Time{})
	}
	if c.since = c.terms.begun; lasted || c.delayed { // else the exchange was short, and there is no need for a look
		c.since = time.Now()
	}
	if c.stop != nil && !c.stop() {
		good = false // it is being closed
	}
	c.terms, c.stop, c.used, c.place, c.delayed = terms{}, nil, true, place{}, false
	c.awaits.Store(nil)
	c.lookAway(good)
	if !good || c.in.Buffered() > 0 {
		c.host.drop(c)
		return
	}
	c.in.Release()
	c.host.put(c)
}

// watch ends the exchange with its context from now on, and when the head is late.
func (c *conn) watch() {
	c.stop = onEnd(c.terms.ctx, func() {
		_ = c.net.Close()
		c.seen()
	})
	_ = c.net.SetReadDeadline(c.until())
}

// until is when the head is to be there, unless it is: zero, then, or if it has any time.
func (c *conn) until() time.Time {
	if !c.timed {
		return time.Time{}
	}
	return c.terms.until()
}

// onEnd has f run in a goroutine of its own once ctx has ended, until stop is called.
func onEnd(ctx context.Context, f func()) (stop func() bool) {
	if ending, ok := ctx.(wire.Ending); ok {
		return ending.OnEnd(f)
	}
	return context.AfterFunc(ctx, f)
}

// goesOn reports whether a read that failed is to be tried again: it was woken, so that the exchange is watched
// from now on.
func (c *conn) goesOn(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	if c.stop == nil {
		c.watch()
	}
	c.late = c.late || c.timed && !time.Now().Before(c.terms.until())
	return !c.late
}

// inTime says that the head is there.
func (c *conn) inTime() {
	if c.timed && c.stop != nil {
		_ = c.net.SetReadDeadline(time.Time{})
	}
	c.timed = false
}

// close closes c while no exchange has it. Memory that it borrowed goes back.
func (c *conn) close() {
	if c.sighting != nil {
		arrivals.Forget(c.sighting)
	}
	c.in.Reset(c.net)
	if c.secure != nil {
		_ = c.secure.Close()
		return
	}
	_ = c.net.Close()
}
