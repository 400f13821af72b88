package proxy

import (
	"cmp"
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

const (
	defaultLinger = 5 * time.Minute // Timeouts.Linger where that is 0
	maxLingering  = 4096            // exchanges read on without a client
)

// errLingered ends an exchange that was read on for long enough.
var errLingered = errors.New("proxy: read on without a client for long enough")

// detach makes the context of the upstream's side. In the modern era the client's
// departure cancels the request there (2026-07-28, "Cancellation"). In the legacy
// era it does not (2025-11-25, "Sending Messages"): the answer, which may bear a
// task's id, is read to its end, for a bounded time.
func (p *Proxy) detach(c *inbound.Call) (ctx context.Context, end func()) {
	if c.Era() == mcp.EraModern || c.HTTP.Method != wire.MethodPost {
		return c.HTTP.Context(), endsByItself
	}
	return p.lingers(c)
}

func endsByItself() {}

// lingers is detach of what is read on.
func (p *Proxy) lingers(c *inbound.Call) (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(c.HTTP.Context()))
	linger := cmp.Or(c.Endpoint.Timeouts.Linger, defaultLinger)
	stop := context.AfterFunc(c.HTTP.Context(), func() {
		if p.lingering.Add(1) > maxLingering {
			cancel(errLingered)
		}
		timer := time.AfterFunc(linger, func() { cancel(errLingered) })
		select {
		case <-ctx.Done():
		case <-p.end.cutting:
			cancel(errCut)
		}
		timer.Stop()
		p.lingering.Add(-1)
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
