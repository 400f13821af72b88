package proxy

import (
	"cmp"
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/lingering"
	"berth/routing"
)

const defaultLinger = 5 * time.Minute // Timeouts.Linger where that is 0

// detach makes the context of the upstream's side. In the modern era the client's
// departure cancels the request there (2026-07-28, "Cancellation"). In the legacy
// era it does not (2025-11-25, "Sending Messages"): the answer, which may bear a
// task's id, is read to its end, for a bounded time.
func (p *Proxy) detach(c *inbound.Call) (ctx context.Context, reads *lingering.Exchange, end func()) {
	if c.Era() == mcp.EraModern || c.HTTP.Method != wire.MethodPost {
		return c.HTTP.Context(), nil, endsByItself
	}
	return p.lingers(c)
}

func endsByItself() {}

// lingers is detach of what is read on.
func (p *Proxy) lingers(c *inbound.Call) (ctx context.Context, reads *lingering.Exchange, end func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.HTTP.Context()))
	x := p.lingering.Begin(ctx, clientSessionOf(c), string(c.ID), cancel)
	linger := cmp.Or(c.Endpoint.Timeouts.Linger, defaultLinger)
	stop := context.AfterFunc(c.HTTP.Context(), func() { p.lingering.Read(x, linger, p.end.cutting) })
	return ctx, x, func() {
		stop()
		cancel(nil)
		p.lingering.Close(x)
	}
}

// takeOver ends the reading of an answer that is read on where its client goes on with the stream: servers give a stream to one reader
// at a time, and refuse the next one (409).
func (p *Proxy) takeOver(c *inbound.Call) {
	if !resumes(c) {
		return
	}
	ctx := c.HTTP.Context()
	if !p.lingering.End(ctx, clientSessionOf(c), c.HTTP.Header.Get(mcp.HeaderLastEvent)) {
		return
	}
	pause(ctx, aMoment)
}

// takeOverElsewhere is takeOver of what another berth reads on, for which the upstream refused the request. It sends that again, until the
// upstream has seen that the reader left; where nobody does, its refusal stands.
func takeOverElsewhere(x *request, u *routing.Upstream, refusal *wire.Response) (*wire.Response, error) {
	if !x.p.lingering.EndElsewhere(x.Ctx, clientSessionOf(x.Call), x.HTTP.Header.Get(mcp.HeaderLastEvent)) {
		return refusal, nil
	}
	response := refusal
	for wait := aMoment; wait <= manyMoments && response.Status == wire.StatusConflict; wait *= 2 {
		pause(x.Ctx, wait)
		_ = response.Body.Close()
		next, err := x.sendAgain(u, time.Time{})
		if err != nil {
			return nil, err
		}
		response = next
	}
	return response, nil
}

// heedCancellation has a request end that its client has cancelled, once the upstream has taken the word of that.
func (p *Proxy) heedCancellation(ctx context.Context, c *inbound.Call, status int) {
	if c.Session == "" || c.Era() == mcp.EraModern || status/100 != 2 {
		return
	}
	if one := c.Single(); one == nil || one.Method != mcp.MethodCancelled {
		return
	}
	if id := mcp.CancelledID(c.Body); id != nil && len(id) <= mostID {
		p.lingering.Cancel(ctx, clientSessionOf(c), string(id))
	}
}

const mostID = 256 // bytes of a request's id

// isCancelled reports whether a request ended because its client had cancelled it.
func isCancelled(ctx context.Context) bool { return context.Cause(ctx) == lingering.ErrCancelled }

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// resumes reports whether a client goes on with a stream of its session.
func resumes(c *inbound.Call) bool {
	return c.HTTP.Method == wire.MethodGet && c.Session != "" && c.Era() != mcp.EraModern && c.HTTP.Header.Has(mcp.HeaderLastEvent)
}

func clientSessionOf(c *inbound.Call) lingering.Session {
	return lingering.Session{Path: c.Endpoint.Path, Principal: c.Principal, ID: c.Session}
}

// What a server may take to see that a reader has left: that of this berth, that of another one for the last time.
const (
	aMoment     = 20 * time.Millisecond
	manyMoments = 32 * aMoment
)
