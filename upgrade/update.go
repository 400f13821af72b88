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
	if err != nil || e.State != task.InputRequired && !t.runner.Pending.Has(id) {
		return err
	}
	t.runner.LookAt(ctx, id) // a call that is not this process's any more must not stand in the way
	release, err := t.runner.Calls.Claim(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	// From here on the client's departure must not leave open who goes on with the task.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledger.StoreTime)
	defer cancel()
	if err := t.runner.Pending.Settle(ctx, id); err != nil {
		return err
	}
	op := t.ledger.Op(task.Answer)
	op.Answers = answers
	next, _, _ := task.Transition(e.Task, op) // answers to nothing leave it as it is
	held := int64(0)
	if next.Waiting() { // these are the last answers: its call is held here
		held = next.Weight()
	}
	if !t.ledger.Quota.Take(id, next.Weight(), held) {
		t.runner.Metrics.Refused(ctx, "answers")
		return &task.Refusal{Err: ledger.ErrTooMuchKept, Reason: "answers"}
	}
	take := func(ctx context.Context) error { return t.runner.Answer(ctx, e, op, with) }
	err = ledger.Unavailable(take(ctx))
	if t.runner.Calls.Get(id) == nil {
		t.ledger.Quota.LetGo(id)
	}
	if errors.Is(err, storage.ErrUnavailable) {
		// The answers may be stored, and with them that this process goes on with the task.
		t.runner.Pending.Keep(id, take)
	}
	return err
}
