package demo

import (
	"errors"

	"berth/internal/client"
)

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

	// Seen is the task as tasks/get showed it, once for each status and message.
	Seen []client.Task
}

// see notes a poll's answer that is not the one before once more.
func (o *Outcome) see(t client.Task) {
	if n := len(o.Seen); n == 0 || o.Seen[n-1].Status != t.Status || o.Seen[n-1].Message != t.Message {
		o.Seen = append(o.Seen, t)
	}
}
