package task

import (
	"errors"
	"testing"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/relay"
	"berth/internal/storage"
	"berth/routing"
)

// Whoever is told of a failure learns whether the call may be made again as it was.
func TestFailureSaysWhetherTheToolRan(t *testing.T) {
	first, later, inSession := Task{Round: 1}, Task{Round: 2}, Task{Round: 1, Session: "s"}
	reset := &exchange.SendError{Sent: true, Err: errors.New("reset")}
	for name, c := range map[string]struct {
		task    Task
		err     error
		reason  string
		outcome mcp.Outcome
	}{
		"nobody can be reached":             {first, &exchange.SendError{}, mcp.ReasonNoUpstream, mcp.NotExecuted},
		"nobody in a later round":           {later, &exchange.SendError{}, mcp.ReasonNoUpstream, mcp.Unknown},
		"its session's server is away":      {inSession, &exchange.SendError{}, mcp.ReasonNoUpstream, mcp.NotExecuted},
		"no way to another berth":           {first, &exchange.SendError{Err: storage.ErrUnavailable, Between: true}, mcp.ReasonStoreUnavailable, mcp.NotExecuted},
		"nor in a later round":              {later, &exchange.SendError{Err: storage.ErrUnavailable, Between: true}, mcp.ReasonStoreUnavailable, mcp.Unknown},
		"another berth is busy":             {first, &exchange.SendError{Err: relay.ErrBusy, Between: true}, mcp.ReasonOverloaded, mcp.NotExecuted},
		"it takes nothing in time":          {first, &exchange.SendError{Err: errors.New("late"), Between: true, TimedOut: true}, mcp.ReasonOwnerUnavailable, mcp.NotExecuted},
		"the store goes as it is passed on": {first, &exchange.SendError{Err: storage.ErrUnavailable, Between: true, Sent: true}, mcp.ReasonStoreUnavailable, mcp.Unknown},
		"another berth is lost with it":     {first, &exchange.SendError{Err: relay.ErrLost, Between: true, Sent: true}, mcp.ReasonUpstreamReset, mcp.Unknown},
		"too large for another berth":       {later, &exchange.SendError{Err: relay.ErrTooLarge, Between: true}, "", mcp.Unknown},
		"nobody is there":                   {Task{}, routing.ErrNoUpstream, mcp.ReasonNoUpstream, mcp.NotExecuted},
		"nobody is there for it once more":  {first, routing.ErrNoUpstream, mcp.ReasonNoUpstream, mcp.Unknown},
		"its session is lost":               {inSession, ErrSessionLost, mcp.ReasonSessionLost, mcp.NotExecuted},
		"broken off":                        {inSession, reset, mcp.ReasonUpstreamReset, mcp.Unknown},
		"broken off in the answer":          {first, errors.New("unexpected EOF"), mcp.ReasonUpstreamReset, mcp.Unknown},
		"no answer in time":                 {first, &exchange.SendError{Sent: true, TimedOut: true}, mcp.ReasonTimeout, mcp.Unknown},
		"longer than it may":                {first, ErrTimeout, mcp.ReasonTimeout, mcp.Unknown},
		"no HTTP":                           {first, &exchange.SendError{Sent: true, Garbled: true}, mcp.ReasonBadUpstream, mcp.Unknown},
		"no JSON":                           {first, ErrGarbled, mcp.ReasonBadUpstream, mcp.Unknown},
		"no UTF-8":                          {first, Illegible(&first), mcp.ReasonBadUpstream, mcp.Executed},
		"no room for the result":            {first, ErrUnsaved, mcp.ReasonStoreUnavailable, mcp.Executed},
		"no room of its caller's":           {first, ErrNotKept, mcp.ReasonTooMuchKept, mcp.Executed},
		"shut down before it was sent":      {Task{}, ErrShutdown, mcp.ReasonShutdown, mcp.NotExecuted},
		"shut down":                         {first, ErrShutdown, mcp.ReasonShutdown, mcp.Unknown},
		"the store takes no step":           {first, storage.ErrUnavailable, mcp.ReasonStoreUnavailable, mcp.Unknown},
		"the store took none":               {Task{}, storage.ErrUnavailable, mcp.ReasonStoreUnavailable, mcp.NotExecuted},
		"nobody has credentials for it":     {Task{}, ErrNoCredentials, mcp.ReasonHolderLost, mcp.NotExecuted},
		"nobody has credentials for a next": {first, ErrNoCredentials, mcp.ReasonHolderLost, mcp.Unknown},
	} {
		if got := FailureOf(c.err, &c.task); got.Reason != c.reason || got.Outcome != c.outcome {
			t.Errorf("%s: got %s, %q, want %s, %s", name, got.Reason, got.Outcome, c.reason, c.outcome)
		}
	}
}
