package lingering

import (
	"context"
	"time"
)

// grace is how long a request is left to its server after that took the word of its cancellation: what was on its way may still come.
const grace = 5 * time.Second

// Cancel ends a request of a session that its client has cancelled, wherever it is under way, unless it is answered within some seconds:
// servers need not answer such requests, and many leave them open for as long as the session lasts.
func (l *Exchanges) Cancel(ctx context.Context, in Session, id string) {
	if !l.cancel(id, func(other Session) bool { return other == in }) && l.notices != nil {
		_ = l.notices.Notify(ctx, topic, word{cancelled, in.digest(), id}.String()) // else it ends with its session
	}
}

// cancel is Cancel of a request at this berth, in a session that is meant. It reports whether there is one.
func (l *Exchanges) cancel(id string, meant func(Session) bool) bool {
	x := l.find(func(x *Exchange) bool { return x.id == id && meant(x.in) })
	if x == nil {
		return false
	}
	timer := time.AfterFunc(grace, func() { x.end(ErrCancelled) })
	context.AfterFunc(x.ctx, func() { timer.Stop() })
	return true
}
