package exchange

import (
	"context"
	"fmt"
	"syscall"
	"testing"
)

// What berths tell of one frozen upstream is one thing, whichever of their times was over.
func TestAFailureInTimeReadsTheSame(t *testing.T) {
	for _, c := range []struct {
		cause error
		want  string
	}{
		{ErrNotInTime, "exchange: no answer in time"},
		{context.DeadlineExceeded, "exchange: no answer in time"},
		{fmt.Errorf("dial: %w", context.DeadlineExceeded), "exchange: no answer in time"},
		{syscall.ECONNREFUSED, "exchange: connection refused"},
	} {
		if got := (&SendError{Err: c.cause}).Error(); got != c.want {
			t.Errorf("%v: got %q, want %q", c.cause, got, c.want)
		}
	}
}
