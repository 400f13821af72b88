package client

import (
	"berth/internal/crew"
	"berth/internal/h1/lookout"
)

// arrivals sees what comes for answers that are awaited, of all clients, as long as the process lasts.
var arrivals lookout.Lookout

// listeners run those who hear of it: what they do with an event goes deep, and is soon done.
var listeners crew.Crew

// Wait implements wire.Waiter.
func (a *answer) Wait() {
	if !a.state.CompareAndSwap(open, reading) {
		return
	}
	a.giveHeadBack()
	if a.mayBeWaitedFor() {
		_ = (*source)(a.conn).wait() // what is wrong shows when it is read
	}
	a.endRead()
}

// Await implements wire.Waiter. Neither a goroutine waits nor its stack.
func (a *answer) Await(ready func()) bool {
	if !a.state.CompareAndSwap(open, reading) {
		return false
	}
	a.giveHeadBack()
	c := a.conn
	if !a.mayBeWaitedFor() || !c.comesIntoView() || c.hasMore() {
		a.endRead()
		return false
	}
	c.in.Release()
	a.ready = ready
	c.awaits.Store(a)
	// The kernel is told before anybody can be woken, who may await the next: what it is told late would undo what it was told for that.
	if !c.willBeSeen() || !a.state.CompareAndSwap(reading, awaited) { // it cannot be, or is being closed
		a.endRead()
		return false
	}
	return !c.missed.Load() || !a.state.CompareAndSwap(awaited, open)
}

// giveHeadBack lets go of the answer's head: nobody who waits needs it any more.
func (a *answer) giveHeadBack() {
	if a.Header != nil {
		a.Header, a.Phrase = nil, ""
		a.conn.giveHeadsBack()
	}
}

// mayBeWaitedFor reports whether more of the body is to come.
func (a *answer) mayBeWaitedFor() bool {
	body := &a.conn.body
	return !body.Whole() && body.Err() == nil
}

// wake has who awaits the answer go on. It reports false if nobody does.
func (a *answer) wake() bool {
	if !a.state.CompareAndSwap(awaited, open) {
		return false
	}
	listeners.Run(a.ready)
	return true
}

// comesIntoView has c be seen by the lookout, if it can be. Its context is watched from then on, since nobody reads who could be
// woken to look for its end.
func (c *conn) comesIntoView() bool {
	if c.net.raw == nil || c.secure != nil {
		return false
	}
	if c.stop == nil {
		c.host.client.young.leave(c)
		c.watch()
	}
	if c.sighting == nil {
		if c.sighting = arrivals.View(c.net.raw, lookout.Arriving); c.sighting != nil {
			arrivals.Watch(c.sighting, c.seen)
		}
	}
	return c.sighting != nil
}

// seen has whoever awaits the answer go on, since there is something to read, or the connection was closed. Who is about to await it
// finds that he has missed it.
func (c *conn) seen() {
	if c.wake() {
		return
	}
	c.missed.Store(true)
	c.wake()
}

func (c *conn) wake() bool {
	a := c.awaits.Load()
	return a != nil && a.wake()
}
