package task

import (
	"errors"
	"time"
)

var (
	// ErrTerminal says that an op came after the task's end.
	ErrTerminal = errors.New("upgrade: the task has ended")
	// ErrStale says that an op is another holder's, or about another round, than the
	// task's.
	ErrStale = errors.New("upgrade: the task is held by another")
	// ErrState says that an op has no place in the task's state.
	ErrState = errors.New("upgrade: not in this state")
)

// KeptOps bounds how far back a repetition is known. Between two attempts of one op
// few others can come: those of the holder follow one another.
const KeptOps = 8

// Transition returns the task as op leaves it. It is the only place where a task
// changes, and pure: equal arguments give equal results, and t stays as it is. changed
// is false, and next is t, where there is nothing to store: op was done before, or does nothing. The
// error is ErrTerminal, ErrStale or ErrState.
func Transition(t *Task, op *Op) (next *Task, changed bool, err error) {
	if t.Did(op.ID) {
		return t, false, nil
	}
	next = new(*t)
	step := transition{next, op}
	switch op.Kind {
	case Dispatch:
		changed, err = step.dispatch()
	case Return:
		changed, err = step.giveBack()
	case Hand:
		changed, err = step.hand()
	case Progress:
		changed, err = step.progress()
	case Pause:
		changed, err = step.pause()
	case Follow:
		changed, err = step.follow()
	case Answer:
		changed = step.answer()
	case Moot:
		changed, err = step.moot()
	case Finish:
		changed, err = step.finish()
	case Cancel:
		changed = step.cancel()
	case Orphan:
		changed, err = step.orphan()
	case Leave:
		changed, err = step.leave()
	case Adopt:
		changed, err = step.adopt()
	case Rerun:
		changed, err = step.rerun()
	default:
		changed, err = step.legacy()
	}
	if err != nil || !changed {
		return t, false, err
	}
	if op.At.After(t.Updated) && !t.State.Terminal() {
		next.Updated = op.At // clocks of berths differ, and clients see it grow
	}
	next.Steps = t.Steps.follow(t, next, op)
	next.Ops = withOp(t.Ops, op.ID)
	return next, true, nil
}

// transition is a step that is being taken: the task as the step is to leave it, and the op that it follows.
type transition struct {
	*Task
	op *Op
}

// withOp returns the last ops with another one, in a list of its own.
func withOp(ops []string, op string) []string {
	ops = ops[max(0, len(ops)-KeptOps+1):]
	return append(append(make([]string, 0, len(ops)+1), ops...), op)
}

// held checks that op is a step of the task's holder, and that it has not left it.
func (t transition) held() error {
	if err := t.heldBy(t.op.Holder); err != nil || !t.Left {
		return err
	}
	return ErrStale
}

func (t transition) heldBy(holder string) error {
	switch {
	case t.State.Terminal():
		return ErrTerminal
	case t.Holder != holder:
		return ErrStale
	}
	return nil
}

// Due is the round that is in flight, or else the next one.
func (t *Task) Due() int {
	if t.State == Dispatched {
		return t.Round
	}
	return t.Round + 1
}

// underWay checks that op is about the round that is in flight.
func (t transition) underWay() error {
	if err := t.held(); err != nil {
		return err
	}
	if t.State != Dispatched || t.Round != t.op.Round {
		return ErrStale
	}
	return nil
}

// dispatch also sends a round elsewhere that is known not to have left: it counts anew.
func (t transition) dispatch() (bool, error) {
	if err := t.held(); err != nil {
		return false, err
	}
	if t.Round != t.op.Round {
		return false, ErrStale
	}
	if !t.Waiting() && t.State != Dispatched {
		return false, ErrState
	}
	t.State, t.Upstream, t.Message, t.Handed = Dispatched, t.op.Upstream, "", true
	t.Round++
	return true, nil
}

// giveBack has a round be due again of which the holder knows that nothing has left. A legacy call goes to one upstream
// alone, and waits for no other.
func (t transition) giveBack() (bool, error) {
	if err := t.underWay(); err != nil {
		return false, err
	}
	if t.Call != "" {
		return false, ErrState
	}
	t.Round--
	t.await()
	return true, nil
}

func (t transition) hand() (bool, error) {
	if err := t.held(); err != nil {
		return false, err
	}
	changed := !t.Handed || !t.Withheld.IsZero()
	t.Handed, t.Withheld = true, time.Time{}
	return changed, nil
}

func (t transition) progress() (bool, error) {
	if err := t.underWay(); err != nil {
		return false, err
	}
	changed := t.Message != t.op.Message
	t.Message = t.op.Message
	return changed, nil
}

// await has the task wait for its next round. One that follows another needs no place at
// the upstream: what runs there runs.
func (t transition) await() {
	t.State = Accepted
	if t.Terms.Slots > 0 && t.Follows == "" {
		t.State = Queued
	}
}

func (t transition) finish() (bool, error) {
	if err := t.held(); err != nil {
		return false, err
	}
	if t.Due() != t.op.Round {
		return false, ErrStale
	}
	if t.op.End != Failed && (t.op.End != Completed || t.State != Dispatched) {
		return false, ErrState
	}
	t.end(t.op.End, t.op)
	return true, nil
}

// cancel has Message be why, if that is not its client's wish. What its holder has at the upstream stays known: it may be dead, and who
// sees to what it left then gives that up.
func (t transition) cancel() bool {
	if t.State.Terminal() {
		return false
	}
	held, follows, state := t.Holder != "", t.Follows, t.RequestState
	t.end(Cancelled, &Op{Message: t.op.Message})
	if held {
		t.Follows = follows
	}
	if held && sizeOf(state) <= mostLeft {
		t.RequestState = state
	}
	return true
}

// mostLeft is how long a requestState may be that is kept of a task which was cancelled. Those of berth's own are shorter.
const mostLeft = 4 << 10

// LeftBehind reports whether a task was cancelled that may have something at its upstream still, if who held it is dead.
func (t *Task) LeftBehind() bool {
	return t.State == Cancelled && (t.Follows != "" || t.RequestState != nil)
}

// rerun notes that the call is made again. The task itself stays what its client was told that it is:
// an end never changes (2025-11-25, tasks, "Task Status Lifecycle").
func (t transition) rerun() (bool, error) {
	if !t.MayRerun() {
		return false, ErrState
	}
	if t.Again.ID != t.op.Of {
		return false, ErrStale
	}
	t.Again = Again{ID: t.op.Again, At: t.op.At}
	return true, nil
}

// MayRerun reports whether the call of a task may be made again by an operator's order: it has failed, and
// its rule says that the tool may run twice. A call that lives in a session goes on nowhere else.
func (t *Task) MayRerun() bool { return t.State == Failed && t.Terms.Rerun && t.Session == "" }

func (t transition) orphan() (bool, error) {
	if err := t.heldBy(t.op.Of); err != nil {
		return false, err
	}
	t.end(Failed, t.op)
	return true, nil
}

// leave is durable before anybody else goes on: from then on the holder takes no step.
func (t transition) leave() (bool, error) {
	if err := t.held(); err != nil {
		return false, err
	}
	if !t.MayBeHandedOver() {
		return false, ErrState
	}
	t.Left = true
	return true, nil
}

func (t transition) adopt() (bool, error) {
	if err := t.heldBy(t.op.Of); err != nil {
		return false, err
	}
	if !t.MayGoOn() {
		return false, ErrState
	}
	if t.State == Dispatched && !t.Resumable() {
		t.again()
	}
	t.Holder, t.Left, t.Withheld = t.op.Holder, false, time.Time{} // its client has gone with its holder
	return true, nil
}

// end makes the task terminal. What it took to go on is not needed any more, but for the call of one that
// may be made again.
func (t transition) end(state State, op *Op) {
	size := op.Size
	if state == Failed && t.Terms.Rerun && t.Session == "" {
		size += t.Size
	}
	t.State, t.Outcome, t.Message, t.Holder, t.Left, t.ToolFailed = state, op.Outcome, op.Message, "", false, op.ToolFailed
	t.Asks, t.Asked, t.RequestState, t.Answered, t.Follows = nil, nil, nil, false, ""
	t.Event, t.Progress, t.Size, t.Withheld = "", nil, size, time.Time{}
}
