package demo

import "errors"

// Why a tool call did not come back right.
var (
	// ErrTaskLost: a poll was answered with anything but the task.
	ErrTaskLost = errors.New("demo: task lost")
	// ErrSessionLost: the session was denied before a task was made.
	ErrSessionLost = errors.New("demo: session lost")
	// ErrWrongResult: the result is not that of the call.
	ErrWrongResult = errors.New("demo: wrong result")
)

// An Outcome is what became of one tool call.
type Outcome struct {
	Kind  Kind
	Owner string // the instance that computed the result; empty unless right
	Polls int    // tasks/* calls sent
	Lost  int    // those not answered with the task; a client stops at the first
	Err   error  // nil if the right result came back
}
