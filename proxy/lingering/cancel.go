package lingering

import (
	"context"
	"time"

	"berth/internal/mcp"
)

// grace is how long a request is left to its server after that took the word of its cancellation: what was on its way may still come.
const grace = 5 * time.Second

// cancel ends a request of a session that its client has cancelled, wherever it is under way, unless it is answered within some seconds:
// servers need not answer such requests, and many leave them open for as long as the session lasts. One that berth answers itself ends at once.
func (l *Exchanges) cancel(ctx context.Context, in Session, id string) {
	if !l.cancelHere(id, func(x *Exchange) bool { return x.in == in }) && l.notices != nil {
		_ = l.notices.Notify(ctx, topic, word{cancelled, in.digest(), id}.String()) // else it ends with its session
	}
}

// cancelHere is cancel of a request at this berth, in a session that is meant. It reports whether there is one.
func (l *Exchanges) cancelHere(id string, inMeant func(*Exchange) bool) bool {
	key := mcp.IDKey([]byte(id))
	// Nearly all are of other sessions, and what ids mean is costly to tell.
	x := l.find(func(x *Exchange) bool { return inMeant(x) && (x.id == id || mcp.IDKey([]byte(x.id)) == key) })
	if x == nil {
		return false
	}
	if x.own.Load() {
		x.end(errCancelled)
		return true
	}
	timer := time.AfterFunc(grace, func() { x.end(errCancelled) })
	context.AfterFunc(x.ctx, func() { timer.Stop() })
	return true
}
