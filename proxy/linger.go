package proxy

import (
	"cmp"
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

const defaultLinger = 5 * time.Minute // Timeouts.Linger where that is 0

// detach makes the context of the upstream's side. In the modern era the client's
// departure cancels the request there (2026-07-28, "Cancellation"). In the legacy
// era it does not (2025-11-25, "Sending Messages"): the answer, which may bear a
// task's id, is read to its end, for a bounded time.
func (p *Proxy) detach(c *inbound.Call) (ctx context.Context, reads *readOn, end func()) {
	if c.Era() == mcp.EraModern || c.HTTP.Method != wire.MethodPost {
		return c.HTTP.Context(), nil, endsByItself
	}
	return p.lingers(c)
}

func endsByItself() {}

// lingers is detach of what is read on.
func (p *Proxy) lingers(c *inbound.Call) (ctx context.Context, reads *readOn, end func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.HTTP.Context()))
	r := &readOn{in: clientSessionOf(c), end: cancel, ctx: ctx}
	linger := cmp.Or(c.Endpoint.Timeouts.Linger, defaultLinger)
	stop := context.AfterFunc(c.HTTP.Context(), func() { p.lingering.read(r, linger, p.end.cutting) })
	return ctx, r, func() {
		left := !stop()
		cancel(nil)
		if left {
			p.lingering.close(r)
		}
	}
}

// takeOver ends the reading of an answer that is read on where its client goes on with the stream: servers give a stream to one reader
// at a time, and refuse the next one (409).
func (p *Proxy) takeOver(c *inbound.Call) {
	if c.HTTP.Method != wire.MethodGet || c.Session == "" || c.Era() == mcp.EraModern || !c.HTTP.Header.Has(mcp.HeaderLastEvent) {
		return
	}
	ctx := c.HTTP.Context()
	if !p.lingering.end(ctx, clientSessionOf(c), c.HTTP.Header.Get(mcp.HeaderLastEvent)) {
		return
	}
	select {
	case <-time.After(aMoment):
	case <-ctx.Done():
	}
}

// aMoment is what a server may take to see that a reader has left.
const aMoment = 20 * time.Millisecond
