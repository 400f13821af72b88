package proxy

import (
	"cmp"
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
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
func (x *request) detach() (end func()) {
	if x.Era() == mcp.EraModern || x.HTTP.Method != wire.MethodPost {
		x.ctx = x.HTTP.Context()
		return func() {}
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(x.HTTP.Context()))
	x.ctx = ctx
	linger := cmp.Or(x.Endpoint.Timeouts.Linger, defaultLinger)
	stop := context.AfterFunc(x.HTTP.Context(), func() {
		if x.p.lingering.Add(1) > maxLingering {
			cancel(errLingered)
		}
		timer := time.AfterFunc(linger, func() { cancel(errLingered) })
		select {
		case <-ctx.Done():
		case <-x.p.end.cutting:
			cancel(errCut)
		}
		timer.Stop()
		x.p.lingering.Add(-1)
	})
	return func() {
		stop()
		cancel(nil)
	}
}

// gone reports whether the exchange has lost its purpose.
func (x *request) gone() bool { return x.ctx.Err() != nil }
