package audit

import (
	"errors"
	"testing"

	"berth/internal/exchange"
)

// What fails between two berths is told apart from what fails at an upstream, whatever else is said of it.
func TestErrorTypesSayWhereExchangesFailed(t *testing.T) {
	for want, err := range map[string]error{
		"relay":              &exchange.SendError{Between: true, TimedOut: true},
		"timeout":            &exchange.SendError{TimedOut: true},
		"not_started":        &exchange.SendError{Unstarted: true, Refused: true},
		"connection_refused": &exchange.SendError{Refused: true},
		"garbled":            &exchange.SendError{Garbled: true, Sent: true},
		"broken_off":         &exchange.SendError{Sent: true},
		"_OTHER":             errors.New("another"),
	} {
		if got := ErrorType(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
