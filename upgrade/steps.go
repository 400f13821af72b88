package upgrade

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/upgrade/ledger"
	"berth/upgrade/quota"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// Steps are those that clients take with their tasks: they give them up, and answer what they ask.
type Steps struct {
	records records
	ledger  *ledger.Ledger
	runner  *runner.Runner
	moots   moots
	vigils  vigils
}

// Cancel ends a task, and returns it as it is then. One that had ended before stays as it
// is, and comes with ErrTerminal. Other errors: ErrUnknown, or one that wraps
// storage.ErrUnavailable: then a task that could be read is cancelled as soon as the store takes that.
func (s *Steps) Cancel(ctx context.Context, id string, who task.Asker) (task.Task, error) {
	e, err := s.records.find(ctx, id, who)
	if err != nil {
		return task.Task{}, err
	}
	return s.end(ctx, e, s.ledger.Op(task.Cancel), who.Envelope)
}

// end ends a task by op. with is what authorises what its upstream is told of that; nil: the call itself does where that is held here,
// and else a task that it follows is left to expire.
func (s *Steps) end(ctx context.Context, e ledger.Entry, op *task.Op, with *task.Envelope) (task.Task, error) {
	if e.State.Terminal() {
		return *e.Task, task.ErrTerminal
	}
	ctx, cancel := ledger.Bounded(context.WithoutCancel(ctx))
	defer cancel()
	after, withdraw, err := s.drop(ctx, e, op, with)
	err = ledger.Unavailable(err)
	if errors.Is(err, storage.ErrUnavailable) {
		s.ledger.Backlog.Add(func(ctx context.Context) error { return s.endLate(ctx, e, op, with) }) // it may be stored, and the holder not know of it
	}
	switch {
	case err != nil:
		return task.Task{}, err
	case withdraw == nil:
		return *after, task.ErrTerminal
	}
	withdraw()
	return *after, nil
}

// endLate is end of a task whose client was told that nobody knows yet. Its upstream holds up nothing else that waits for the store.
func (s *Steps) endLate(ctx context.Context, e ledger.Entry, op *task.Op, with *task.Envelope) error {
	_, withdraw, err := s.drop(ctx, e, op, with)
	if withdraw != nil {
		go withdraw()
	}
	return err
}

// drop takes the step that ends a task, and returns the task as it is then. withdraw tells its upstream; nil: the step was not taken.
func (s *Steps) drop(ctx context.Context, e ledger.Entry, op *task.Op, with *task.Envelope) (after *task.Task, withdraw func(), err error) {
	state, _ := s.ledger.Records.State(ctx, e.Task) // it goes with the end
	if after, err = s.runner.Drop(ctx, e, op, with); err == nil && after.Did(op.ID) {
		withdraw = func() { s.runner.Withdraw(ctx, e.Task, state, with) }
	}
	return after, withdraw, err
}

// Wants reports whether an upstream refuses what authorises a task's call that this berth holds, so that what its caller bears by now is
// of use: see Renew. It is asked with each poll.
func (s *Steps) Wants(id string) bool { return s.runner.Wants(id) }

// Renew has what is sent from now on for a task's call that this berth holds bear what a request of its caller's does.
func (s *Steps) Renew(id string, with *task.Envelope) { s.runner.Renew(id, with) }

// Update gives a task its client's answers. with is what the request that brought them
// had around its body: it goes with the next round. Answers that nobody waits for are
// ignored. Errors: ErrUnknown, ErrDraining, a *Refusal, an *mcp.Error where they are too long together, or one that wraps storage.ErrUnavailable: then
// nobody knows whether the answers were taken, and they may be given again.
func (s *Steps) Update(ctx context.Context, id string, who task.Asker, answers []inquiry.Input, with *task.Envelope) error {
	e, err := s.records.find(ctx, id, who)
	if err != nil || e.State != task.InputRequired && !s.ledger.Pending.Has(id) {
		return err
	}
	op := s.ledger.Op(task.Answer)
	op.Answers = answers
	return s.goOn(ctx, e, op, with)
}

var errAnswersTooLong = &mcp.Error{
	Status: wire.StatusRequestEntityTooLarge, Code: mcp.CodeInvalidRequest, Message: "the answers to what the task asks are too long together",
}

// claim claims a task for a step, within the time for one: a call that waits for the store to keep what it asks is held as long.
func (s *Steps) claim(ctx context.Context, id string) (release func(), err error) {
	ctx, cancel := s.ledger.InTime(ctx)
	defer cancel()
	release, err = s.runner.Calls.Claim(ctx, id)
	return release, ledger.Unavailable(err)
}

// goOn takes a step of who answers a task, or of who finds that nobody waits for that any more.
func (s *Steps) goOn(ctx context.Context, e ledger.Entry, op *task.Op, with *task.Envelope) error {
	id := e.ID
	s.runner.LookAt(ctx, id) // a call that is not this process's any more must not stand in the way
	release, err := s.claim(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	// From here on the client's departure must not leave open who goes on with the task.
	ctx, cancel := ledger.Bounded(context.WithoutCancel(ctx))
	defer cancel()
	if err := s.ledger.Pending.Settle(ctx, id); err != nil {
		return err
	}
	next, _, _ := task.Transition(e.Task, op) // answers to nothing leave it as it is
	if next.AnsweredTooLong() {
		s.runner.Metrics.Refused(ctx, "answers")
		return errAnswersTooLong
	}
	held := int64(0)
	if next.Waiting() { // these are the last answers: its call is held here
		held = next.Weight()
	}
	if !s.ledger.Quota.Take(id, next.Weight(), held) {
		s.runner.Metrics.Refused(ctx, "answers")
		return &task.Refusal{Err: quota.ErrTooMuchKept, Reason: "answers"}
	}
	take := func(ctx context.Context) error { return s.runner.Answer(ctx, e, op, with) }
	err = ledger.Unavailable(take(ctx))
	if s.runner.Calls.Get(id) == nil {
		s.ledger.Quota.LetGo(id)
	}
	if errors.Is(err, storage.ErrUnavailable) && !errors.Is(err, ledger.ErrUntaken) {
		// The answers may be stored, and with them that this process goes on with the task.
		s.ledger.Pending.Keep(id, take)
	}
	return err
}
