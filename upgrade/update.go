package upgrade

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// Update gives a task its client's answers. with is what the request that brought them
// had around its body: it goes with the next round. Answers that nobody waits for are
// ignored. Errors: ErrUnknown, ErrDraining, a *Refusal, or one that wraps storage.ErrUnavailable: then
// nobody knows whether the answers were taken, and they may be given again.
func (t *Tasks) Update(ctx context.Context, id string, who task.Asker, answers []mcp.Input, with *task.Envelope) error {
	e, err := t.find(ctx, id, who)
	if err != nil || e.State != task.InputRequired && !t.runner.pending.has(id) {
		return err
	}
	t.runner.lookAt(ctx, id) // a call that is not this process's any more must not stand in the way
	release, err := t.runner.calls.claim(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	// From here on the client's departure must not leave open who goes on with the task.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledger.StoreTime)
	defer cancel()
	if err := t.runner.pending.settle(ctx, id); err != nil {
		return err
	}
	op := t.ledger.Op(task.Answer)
	op.Answers = answers
	next, _, _ := task.Transition(e.Task, op) // answers to nothing leave it as it is
	held := int64(0)
	if next.Waiting() { // these are the last answers: its call is held here
		held = next.Weight()
	}
	if !t.ledger.Quota.TakeHeld(id, next.Weight(), held) {
		t.runner.metrics.refused(ctx, "answers")
		return &task.Refusal{Err: ledger.ErrTooMuchKept, Reason: "answers"}
	}
	take := func(ctx context.Context) error { return t.take(ctx, e, op, with) }
	err = ledger.Unavailable(take(ctx))
	if t.runner.calls.get(id) == nil {
		t.ledger.Quota.LetGo(id)
	}
	if errors.Is(err, storage.ErrUnavailable) {
		// The answers may be stored, and with them that this process goes on with the task.
		t.runner.pending.keep(id, take)
	}
	return err
}

// take does what op says, and goes on with the task if that made it this process's. The
// caller has claimed the task.
func (t *Tasks) take(ctx context.Context, e ledger.Entry, op task.Op, with *task.Envelope) error {
	// Whether these are the last answers shows when they are stored. In vain, the listing
	// is struck by the next beat.
	if err := t.ledger.TakeOn(ctx, &e.Task); err != nil {
		return err
	}
	after, err := t.ledger.Records.Apply(ctx, e, op)
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return t.ledger.Epoch.Miss(ctx)
	case err != nil:
		return err
	}
	if t.runner.tookOver(&after.Task, op) {
		return t.runner.goOn(ctx, after, with)
	}
	t.ledger.Notices.Changed(ctx, &e.Task)
	return nil
}

// tookOver reports whether op made this process the holder of a round that is due, or can
// be listened to further.
func (r *Runner) tookOver(t *task.Task, op task.Op) bool {
	return t.Did(op.ID) && (t.Waiting() || t.Resumable()) && t.Holder == r.ledger.Holder
}

// goOn holds the next round of a task, sent with the envelope of who answered.
func (r *Runner) goOn(ctx context.Context, e ledger.Entry, with *task.Envelope) error {
	c, _, err := r.ledger.Records.LoadCall(ctx, e.ID)
	if errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	if err != nil {
		r.log.Error("the call of a task cannot be read", "task", e.ID, "error", err)
		h := r.hold(e, &task.Call{})
		h.end(task.ErrCallLost)
		h.start()
		return nil
	}
	c.Envelope = *with
	r.hold(e, c).start()
	r.ledger.Notices.Changed(ctx, &e.Task)
	return nil
}
