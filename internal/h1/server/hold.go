package server

import (
	"sync/atomic"

	"berth/internal/wire"
)

// hold is an answer that goes on when its handler has returned. Neither the connection's goroutine nor its stack, which a
// handler has made deep, waits for its end.
type hold struct {
	conn  *conn
	turn  *turn
	whole bool
	ended atomic.Int32 // of handler and answer
}

// Hold implements wire.Holder.
func (a *answer) Hold() (end func(whole bool)) {
	if a.status != 0 { // it was sent
		a.header = new(wire.Header)
	}
	a.hold = &hold{conn: a.conn}
	return a.hold.end
}

// leave is called when the handler has returned. It reports whether the answer is over, too.
func (h *hold) leave(t *turn) bool {
	h.turn = t
	t.parser.Stand()
	return h.ended.Add(1) == 2
}

// end is called when the answer is over.
func (h *hold) end(whole bool) {
	h.whole = whole
	if h.ended.Add(1) == 2 {
		go h.goOn()
	}
}

// goOn goes on with the connection.
func (h *hold) goOn() {
	c, isHeld := h.conn, false
	defer func() {
		if !isHeld {
			c.end(recover())
		}
	}()
	isHeld = h.turn.over(c, h.whole) == another && c.await() && c.serveAll()
}
