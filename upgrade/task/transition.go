package task

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"berth/internal/mcp"
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

// Kind is what an op does.
type Kind string

const (
	Dispatch Kind = "dispatch" // a round is about to be sent to Upstream
	Return   Kind = "return"   // the round did not leave, and is due again
	Hand     Kind = "hand"     // the client has the handle
	Progress Kind = "progress" // the tool says Message
	Pause    Kind = "pause"    // the round ended by asking Asks, or for another round with RequestState alone
	Answer   Kind = "answer"   // the client gives Answers; with the last one Holder takes the task
	Moot     Kind = "moot"     // the upstream waits for none of Asks any more: Holder takes the task
	Note     Kind = "note"     // a legacy call's stream came to Event, and said Message, Progress, Says
	Open     Kind = "open"     // a legacy call asks Request, under Key; at Event
	Settle   Kind = "settle"   // the upstream has the answer to Key
	Withdraw Kind = "withdraw" // the upstream wants no answer to Key any more; at Event
	Redo     Kind = "redo"     // the round is lost, and may be sent again
	Follow   Kind = "follow"   // Upstream made a task of its own, Follows, of the call
	Finish   Kind = "finish"   // the round ended with Outcome, in End
	Cancel   Kind = "cancel"   // the client gives the task up
	Orphan   Kind = "orphan"   // Of is gone: the task fails with Outcome
	Leave    Kind = "leave"    // Holder goes: it has let go of what another one can go on with at once
	Adopt    Kind = "adopt"    // Of is gone, or has left it: Holder takes over what can be gone on with
	Rerun    Kind = "rerun"    // an operator has the call of a task that has failed made again, as the task Again
)

// Op is one step of a task. Its ID makes a repetition harmless.
type Op struct {
	ID   string
	Kind Kind
	At   time.Time // becomes Task.Updated

	Holder string // whose step it is, or who takes the task
	Of     string // Orphan, Adopt: the holder that is gone; Rerun: the Again that came to nothing, "" for none
	Round  int    // Dispatch: the round before; Moot: the one that asked; else the round that is in flight, or due

	Upstream     string
	Follows      string
	Message      string
	Asks         []mcp.Input // under the upstream's keys
	RequestState json.RawMessage
	Answers      []mcp.Input // under the client's keys
	End          State       // Finish: Completed or Failed
	Outcome      string
	Size         int64  // of Outcome
	ToolFailed   bool   // Finish
	Reason       string // Finish, Orphan: why it failed, in one word; "": the tool says so
	Again        string // Rerun

	Event    string // Note, Open, Withdraw: the event that this comes from; "" if it has no id
	Progress json.RawMessage
	Says     []json.RawMessage
	Key      string
	Request  json.RawMessage
}

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
	switch op.Kind {
	case Dispatch:
		changed, err = next.dispatch(op)
	case Return:
		changed, err = next.giveBack(op)
	case Hand:
		changed, err = next.hand(op)
	case Progress:
		changed, err = next.progress(op)
	case Pause:
		changed, err = next.pause(op)
	case Follow:
		changed, err = next.follow(op)
	case Answer:
		changed = next.answer(op)
	case Moot:
		changed, err = next.moot(op)
	case Finish:
		changed, err = next.finish(op)
	case Cancel:
		changed = next.cancel(op)
	case Orphan:
		changed, err = next.orphan(op)
	case Leave:
		changed, err = next.leave(op)
	case Adopt:
		changed, err = next.adopt(op)
	case Rerun:
		changed, err = next.rerun(op)
	default:
		changed, err = next.legacy(op)
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

// withOp returns the last ops with another one, in a list of its own.
func withOp(ops []string, op string) []string {
	ops = ops[max(0, len(ops)-KeptOps+1):]
	return append(append(make([]string, 0, len(ops)+1), ops...), op)
}

// held checks that op is a step of the task's holder, and that it has not left it.
func (t *Task) held(op *Op) error {
	if err := t.heldBy(op.Holder); err != nil || !t.Left {
		return err
	}
	return ErrStale
}

func (t *Task) heldBy(holder string) error {
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
func (t *Task) underWay(op *Op) error {
	if err := t.held(op); err != nil {
		return err
	}
	if t.State != Dispatched || t.Round != op.Round {
		return ErrStale
	}
	return nil
}

// dispatch also sends a round elsewhere that is known not to have left: it counts anew.
func (t *Task) dispatch(op *Op) (bool, error) {
	if err := t.held(op); err != nil {
		return false, err
	}
	if t.Round != op.Round {
		return false, ErrStale
	}
	if !t.Waiting() && t.State != Dispatched {
		return false, ErrState
	}
	t.State, t.Upstream, t.Message, t.Handed = Dispatched, op.Upstream, "", true
	t.Round++
	return true, nil
}

// giveBack has a round be due again of which the holder knows that nothing has left. A legacy call goes to one upstream
// alone, and waits for no other.
func (t *Task) giveBack(op *Op) (bool, error) {
	if err := t.underWay(op); err != nil {
		return false, err
	}
	if t.Call != "" {
		return false, ErrState
	}
	t.Round--
	t.await()
	return true, nil
}

func (t *Task) hand(op *Op) (bool, error) {
	if err := t.held(op); err != nil {
		return false, err
	}
	changed := !t.Handed || !t.Withheld.IsZero()
	t.Handed, t.Withheld = true, time.Time{}
	return changed, nil
}

func (t *Task) progress(op *Op) (bool, error) {
	if err := t.underWay(op); err != nil {
		return false, err
	}
	changed := t.Message != op.Message
	t.Message = op.Message
	return changed, nil
}

func (t *Task) pause(op *Op) (bool, error) {
	if err := t.underWay(op); err != nil {
		return false, err
	}
	t.retire()
	t.RequestState, t.Answered, t.Message = op.RequestState, true, ""
	t.Withheld = time.Time{} // only what the call came to first can take its place
	if len(op.Asks) == 0 {
		t.State = Accepted
		return true, nil
	}
	t.State, t.Holder = InputRequired, ""
	for _, ask := range op.Asks {
		t.Asks = append(t.Asks, Ask{Key: t.fresh(ask.Key), Upstream: ask.Key, Request: ask.Value})
	}
	return true, nil
}

// follow has the rounds that come be about the upstream's task. What was asked before it
// is answered.
func (t *Task) follow(op *Op) (bool, error) {
	if err := t.underWay(op); err != nil {
		return false, err
	}
	t.retire()
	t.Upstream, t.Follows, t.RequestState, t.Answered = op.Upstream, op.Follows, nil, false
	return true, nil
}

// await has the task wait for its next round. One that follows another needs no place at
// the upstream: what runs there runs.
func (t *Task) await() {
	t.State = Accepted
	if t.Terms.Slots > 0 && t.Follows == "" {
		t.State = Queued
	}
}

// retire puts the asks of the round before away. Their keys stay used.
func (t *Task) retire() {
	t.Asked = slices.Clone(t.Asked)
	for _, ask := range t.Asks {
		t.Asked = append(t.Asked, ask.Key)
	}
	t.Asks = nil
}

// fresh returns key, or one made of it that was not shown before: a key stands for one
// request over a task's life (Tasks extension, "Task Update Requests").
func (t *Task) fresh(key string) string {
	used := func(key string) bool {
		return slices.Contains(t.Asked, key) || slices.ContainsFunc(t.Asks, func(a Ask) bool { return a.Key == key })
	}
	name := key
	for n := 2; used(name); n++ {
		name = key + "#" + strconv.Itoa(n)
	}
	return name
}

// answer takes what answers an open ask. The rest is ignored, and so is everything in
// another state.
func (t *Task) answer(op *Op) (changed bool) {
	if t.State != InputRequired {
		return false
	}
	t.Asks = slices.Clone(t.Asks)
	open := 0
	for i := range t.Asks {
		ask := &t.Asks[i]
		if given := slices.IndexFunc(op.Answers, func(a mcp.Input) bool { return a.Key == ask.Key }); ask.Answer == nil && given >= 0 {
			ask.Answer, changed = op.Answers[given].Value, true
		}
		if ask.Answer == nil {
			open++
		}
	}
	if open == 0 {
		t.await()
		t.Holder = op.Holder
	}
	return changed
}

// moot has the round be due whose answers nobody waits for: the upstream is asked what has become of the call.
func (t *Task) moot(op *Op) (bool, error) {
	switch {
	case t.State.Terminal():
		return false, ErrTerminal
	case t.State != InputRequired || t.Round != op.Round:
		return false, ErrStale
	}
	t.await()
	t.Holder = op.Holder
	return true, nil
}

func (t *Task) finish(op *Op) (bool, error) {
	if err := t.held(op); err != nil {
		return false, err
	}
	if t.Due() != op.Round {
		return false, ErrStale
	}
	if op.End != Failed && (op.End != Completed || t.State != Dispatched) {
		return false, ErrState
	}
	t.end(op.End, op)
	return true, nil
}

// cancel has Message be why, if that is not its client's wish.
func (t *Task) cancel(op *Op) bool {
	if t.State.Terminal() {
		return false
	}
	t.end(Cancelled, &Op{Message: op.Message})
	return true
}

// rerun notes that the call is made again. The task itself stays what its client was told that it is:
// an end never changes (2025-11-25, tasks, "Task Status Lifecycle").
func (t *Task) rerun(op *Op) (bool, error) {
	if !t.MayRerun() {
		return false, ErrState
	}
	if t.Again.ID != op.Of {
		return false, ErrStale
	}
	t.Again = Again{ID: op.Again, At: op.At}
	return true, nil
}

// MayRerun reports whether the call of a task may be made again by an operator's order: it has failed, and
// its rule says that the tool may run twice. A call that lives in a session goes on nowhere else.
func (t *Task) MayRerun() bool { return t.State == Failed && t.Terms.Rerun && t.Session == "" }

func (t *Task) orphan(op *Op) (bool, error) {
	if err := t.heldBy(op.Of); err != nil {
		return false, err
	}
	t.end(Failed, op)
	return true, nil
}

// leave is durable before anybody else goes on: from then on the holder takes no step.
func (t *Task) leave(op *Op) (bool, error) {
	if err := t.held(op); err != nil {
		return false, err
	}
	if !t.MayBeHandedOver() {
		return false, ErrState
	}
	t.Left = true
	return true, nil
}

func (t *Task) adopt(op *Op) (bool, error) {
	if err := t.heldBy(op.Of); err != nil {
		return false, err
	}
	if !t.MayGoOn() {
		return false, ErrState
	}
	if t.State == Dispatched && !t.Resumable() {
		t.again()
	}
	t.Holder, t.Left, t.Withheld = op.Holder, false, time.Time{} // its client has gone with its holder
	return true, nil
}

// end makes the task terminal. What it took to go on is not needed any more, but for the call of one that
// may be made again.
func (t *Task) end(state State, op *Op) {
	size := op.Size
	if state == Failed && t.Terms.Rerun && t.Session == "" {
		size += t.Size
	}
	t.State, t.Outcome, t.Message, t.Holder, t.Left, t.ToolFailed = state, op.Outcome, op.Message, "", false, op.ToolFailed
	t.Asks, t.Asked, t.RequestState, t.Answered, t.Follows = nil, nil, nil, false, ""
	t.Event, t.Progress, t.Size, t.Withheld = "", nil, size, time.Time{}
}
