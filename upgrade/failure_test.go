package upgrade

import (
	"errors"
	"testing"

	"berth/internal/exchange"
	"berth/internal/mcp"
)

// Who is told that nobody took the call learns whether that may be tried again as it was.
func TestFailureOfACallThatWasNotSent(t *testing.T) {
	for name, c := range map[string]struct {
		task Task
		err  error
		want string
		says bool // whether the tool may have run
	}{
		"in no session": {Task{Round: 1}, &exchange.SendError{}, mcp.ReasonNoUpstream, false},
		"in a session":  {Task{Round: 1, Session: "s"}, &exchange.SendError{}, mcp.ReasonNoUpstream, true},
		"a lost one":    {Task{Round: 1, Session: "s"}, ErrSessionLost, mcp.ReasonSessionLost, true},
		"sent":          {Task{Round: 1, Session: "s"}, &exchange.SendError{Sent: true, Err: errors.New("reset")}, mcp.ReasonUpstreamReset, false},
	} {
		got := wordFailure(c.err, c.task)
		if got.Reason != c.want || (got.MayHaveExecuted != nil) != c.says || c.says && *got.MayHaveExecuted {
			t.Errorf("%s: got %+v, want %s", name, got, c.want)
		}
	}
}
