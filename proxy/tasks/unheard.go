package tasks

import (
	"errors"
	"fmt"

	"berth/internal/exchange"
	"berth/upgrade"
)

// Unheard is what a call failed with that was to be held in its client's session, and of which that session's upstream has not
// heard. There is no task of it, and it may be sent elsewhere.
type Unheard struct {
	Failed *exchange.SendError // why nothing of it was sent; nil: the upstream does not know the session
}

// Error implements error.
func (e *Unheard) Error() string {
	if e.Failed == nil {
		return "tasks: the upstream does not know the session of a call"
	}
	return "tasks: a call was not sent: " + e.Failed.Error()
}

// errDenied is upgrade.ErrSessionLost of an upstream that has said so twice: its first word alone may be about something else.
var errDenied = fmt.Errorf("%w, as its answer to a ping says", upgrade.ErrSessionLost)

// unheard returns how a call failed with err that was to be held in its client's session, if its upstream has not heard of it.
func (a *waiting) unheard(err error) *Unheard {
	failed, ok := errors.AsType[*exchange.SendError](err)
	switch task := a.held.Task(); {
	case task.Session == "":
		return nil
	case ok && !failed.Sent:
		return &Unheard{failed}
	case errors.Is(err, errDenied):
		return new(Unheard)
	}
	return nil
}
