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
	"berth/internal/relay"
	"berth/internal/storage"
)

// What the way to another berth fails with is told as what it is; and what may have been taken there may have run.
func TestAFailureBetweenBerthsIsWorded(t *testing.T) {
	away := fmt.Errorf("x: %w", storage.ErrUnavailable)
	for name, c := range map[string]struct {
		failed  exchange.SendError
		reads   bool
		status  int
		reason  string
		outcome mcp.Outcome
		again   bool
	}{
		"the store is away":                {exchange.SendError{Err: away}, false, 503, mcp.ReasonStoreUnavailable, mcp.NotExecuted, true},
		"the store goes, of a call":        {exchange.SendError{Err: away, Sent: true}, false, 503, mcp.ReasonStoreUnavailable, mcp.Unknown, false},
		"the store goes, of a read":        {exchange.SendError{Err: away, Sent: true}, true, 503, mcp.ReasonStoreUnavailable, mcp.Unknown, true},
		"that berth is busy":               {exchange.SendError{Err: relay.ErrBusy}, false, 503, mcp.ReasonOverloaded, mcp.NotExecuted, true},
		"that berth takes nothing in time": {exchange.SendError{Err: errors.New("late"), TimedOut: true}, false, 503, mcp.ReasonOwnerUnavailable, mcp.NotExecuted, true},
		"that berth is lost, with a call":  {exchange.SendError{Err: relay.ErrLost, Sent: true}, false, 502, mcp.ReasonUpstreamReset, mcp.Unknown, false},
		"that berth is lost, with a read":  {exchange.SendError{Err: relay.ErrLost, Sent: true}, true, 502, mcp.ReasonUpstreamReset, mcp.Unknown, true},
		"the body is too large":            {exchange.SendError{Err: relay.ErrTooLarge}, false, 413, "", "", false},
	} {
		c.failed.Between = true
		got := Word(&c.failed, c.reads)
		if again := got.RetryAfter > 0; got.Status != c.status || got.Reason != c.reason || got.Outcome != c.outcome || again != c.again {
			t.Errorf("%s: got %d %q, %q, again %v", name, got.Status, got.Reason, got.Outcome, again)
		}
	}
}

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
