package fault

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/storage"
)

// A deadline is the store's unless it ended an exchange: what an upstream did not take, or answer, in time says
// nothing of the store.
func TestDeadlinesAreToldApart(t *testing.T) {
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
	for name, c := range map[string]struct {
		err    error
		reason string
	}{
		"no connection in time, by the context":  {&exchange.SendError{Err: context.DeadlineExceeded, TimedOut: true}, mcp.ReasonNoUpstream},
		"no connection in time, by the dialer":   {&exchange.SendError{Err: dial, TimedOut: true}, mcp.ReasonNoUpstream},
		"the same, wrapped":                      {fmt.Errorf("x: %w", &exchange.SendError{Err: context.DeadlineExceeded}), mcp.ReasonNoUpstream},
		"no headers before the request's end":    {&exchange.SendError{Err: context.DeadlineExceeded, Sent: true, TimedOut: true}, mcp.ReasonTimeout},
		"no headers in time":                     {&exchange.SendError{Err: exchange.ErrNotInTime, Sent: true, TimedOut: true}, mcp.ReasonTimeout},
		"no port left":                           {&exchange.SendError{Err: context.DeadlineExceeded, Starved: true}, mcp.ReasonOverloaded},
		"passed on by a store that is away":      {&exchange.SendError{Err: storage.ErrUnavailable}, mcp.ReasonStoreUnavailable},
		"the store is away":                      {storage.ErrUnavailable, mcp.ReasonStoreUnavailable},
		"the store is away, and late":            {errors.Join(storage.ErrUnavailable, context.DeadlineExceeded), mcp.ReasonStoreUnavailable},
		"the time for a look-up in it ended":     {context.DeadlineExceeded, mcp.ReasonStoreUnavailable},
		"the time for a look-up in it, in words": {fmt.Errorf("sticky: %w", context.DeadlineExceeded), mcp.ReasonStoreUnavailable},
	} {
		for _, reads := range []bool{false, true} {
			if got := Word(c.err, reads); got.Reason != c.reason {
				t.Errorf("%s, reads %v: got %d %q, want %q", name, reads, got.Status, got.Reason, c.reason)
			}
		}
	}
}
