package lingering

import (
	"cmp"
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

const defaultLinger = 5 * time.Minute // Timeouts.Linger where that is 0

// Detach makes the context of the upstream's side. In the modern era the client's
// departure cancels the request there (2026-07-28, "Cancellation"). In the legacy
// era it does not (2025-11-25, "Sending Messages"): the answer, which may bear a
// task's id, is read to its end, for a bounded time, or until cut is closed.
func (l *Exchanges) Detach(c *inbound.Call, cut <-chan struct{}) (ctx context.Context, reads *Exchange, end func()) {
	if c.Era() == mcp.EraModern || c.HTTP.Method != wire.MethodPost {
		return c.HTTP.Context(), nil, endsByItself
	}
	return l.detach(c, cut)
}

func endsByItself() {}

// detach is Detach of what is read on.
func (l *Exchanges) detach(c *inbound.Call, cut <-chan struct{}) (ctx context.Context, reads *Exchange, end func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.HTTP.Context()))
	x := l.begin(ctx, sessionOf(c), string(c.ID), cancel)
	linger := cmp.Or(c.Endpoint.Timeouts.Linger, defaultLinger)
	stop := context.AfterFunc(c.HTTP.Context(), func() { l.read(x, linger, cut) })
	return ctx, x, func() {
		stop()
		cancel(nil)
		l.close(x)
	}
}

// EndCancelled has a request end that its client has cancelled by the call, once the upstream has taken the word of that, with this status.
func (l *Exchanges) EndCancelled(ctx context.Context, c *inbound.Call, status int) {
	if c.Session == "" || c.Era() == mcp.EraModern || status/100 != 2 {
		return
	}
	if one := c.Single(); one == nil || one.Method != mcp.MethodCancelled {
		return
	}
	if id := mcp.CancelledID(c.Body); id != nil && len(id) <= mostID {
		l.cancel(ctx, sessionOf(c), string(id))
	}
}

const mostID = 256 // bytes of a request's id

// IsCancelled reports whether a request ended because its client had cancelled it.
func IsCancelled(ctx context.Context) bool { return context.Cause(ctx) == errCancelled }

func sessionOf(c *inbound.Call) Session {
	return Session{Path: c.Endpoint.Path, Principal: c.Principal, ID: c.Session}
}
