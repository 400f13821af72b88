package stdio

import "time"

// leftCalls are the calls of a process whose clients want no answer any more, and that the process has not answered: it may go on with
// them, ask something for them, and log. A process may be silent about what was cancelled (2025-11-25, cancellation): each counts for a while.
type leftCalls struct {
	mayAsk bool // the process may ask the clients that it has
	calls  map[int64]leftCall
}

type leftCall struct {
	session string    // its id: what an ended session has kept is not to stay for this
	until   time.Time // when it counts no more
}

// maxLeft bounds how many are remembered.
const maxLeft = maxCalls

// add notes a call that is left. Of one without a stream nobody is asked.
func (left *leftCalls) add(c *call, until time.Time) {
	if c.stream == nil || isOfTask(c) {
		return
	}
	if left.calls == nil {
		left.calls = map[int64]leftCall{}
	}
	for n := range left.calls {
		if len(left.calls) < maxLeft {
			break
		}
		delete(left.calls, n)
	}
	left.calls[c.number] = leftCall{c.session.id, until}
}

// answered notes that the process has answered the call of this number.
func (left *leftCalls) answered(number int64) { delete(left.calls, number) }

// ofOthers reports whether there is one of another session than this; nil: of any.
func (left *leftCalls) ofOthers(own *session) bool {
	now := time.Now()
	for n, c := range left.calls {
		switch {
		case !now.Before(c.until):
			delete(left.calls, n)
		case own == nil || c.session != own.id:
			return true
		}
	}
	return false
}

// any reports whether there is one.
func (left *leftCalls) any() bool { return left.ofOthers(nil) }

// keepsOut reports whether one keeps sessions out of the process whose clients may be asked something: they would be asked what is
// asked for that.
func (left *leftCalls) keepsOut() bool { return left.mayAsk && left.any() }
