package upgrade

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
)

// OpenAsk is a request of an upstream's that its client has not answered.
type OpenAsk struct {
	Task string
	ID   []byte // JSON-RPC id, as mcp.IDKey spells it
}

// askName is how an ask is listed.
func askName(task, id string) string { return task + " " + id }

// settled stands in the place of the task in the name of an ask that is open no more. No
// task has it for its id.
const settled = "-"

// settledLife is how long it is known that an ask was settled: a stream that is resumed
// may bring it again.
const settledLife = time.Hour

// strikeAsk notes that an ask of a task's is open no more.
func (t *Tasks) strikeAsk(ctx context.Context, task *Task, key string) error {
	list := t.lists.asksIn(task.Behind)
	if err := t.lists.enlist(ctx, list, askName(settled, key), settledLife, 0); err != nil {
		return err
	}
	return t.store.Delist(ctx, list, askName(task.ID, key))
}

// listAsks lists what a call asks, for life.
func (t *Tasks) listAsks(ctx context.Context, task *Task, life time.Duration) error {
	if task.Session == "" {
		return nil
	}
	for _, ask := range task.OpenAsks() {
		if err := t.lists.enlist(ctx, t.lists.asksIn(task.Behind), askName(task.ID, ask.Key), life+spare, 0); err != nil {
			return err
		}
	}
	return nil
}

// closeAsks strikes what a call has left open. That is not settled: it may be another
// call's, which a stream that was resumed has replayed into this one.
func (t *Tasks) closeAsks(ctx context.Context, task *Task) error {
	open, err := t.openIn(ctx, task.Behind)
	for _, ask := range open {
		if ask.Task == task.ID {
			err = errors.Join(err, t.store.Delist(ctx, t.lists.asksIn(task.Behind), askName(task.ID, string(ask.ID))))
		}
	}
	return err
}

// asked returns what was asked in an upstream's session, settled or not.
func (t *Tasks) asked(ctx context.Context, behind string) ([]OpenAsk, error) {
	listed, err := t.store.Members(ctx, t.lists.asksIn(behind))
	asked := make([]OpenAsk, 0, len(listed))
	for _, name := range listed {
		if task, id, ok := strings.Cut(name, " "); ok {
			asked = append(asked, OpenAsk{task, []byte(id)})
		}
	}
	return asked, err
}

// openIn returns what is waited for in an upstream's session.
func (t *Tasks) openIn(ctx context.Context, behind string) ([]OpenAsk, error) {
	asked, err := t.asked(ctx, behind)
	return slices.DeleteFunc(asked, func(ask OpenAsk) bool { return ask.Task == settled }), err
}

// askedBy returns the task in whose call an ask came, settled if it is open no more; "" if
// it did not come.
func (t *Tasks) askedBy(ctx context.Context, behind, key string) (task string, err error) {
	asked, err := t.asked(ctx, behind)
	for _, ask := range asked {
		if string(ask.ID) == key {
			return ask.Task, nil
		}
	}
	return "", err
}

// AskedIn returns the task whose upstream waits, in the session that BehindKey names, for
// the response with this raw id; "" if none does. The error wraps storage.ErrUnavailable.
func (t *Tasks) AskedIn(ctx context.Context, behind string, id []byte) (task string, err error) {
	open, err := t.openIn(ctx, behind)
	key := mcp.IDKey(id)
	for _, ask := range open {
		if string(ask.ID) == key {
			return ask.Task, nil
		}
	}
	return "", err
}

// Settle notes that the upstream has the answer to an ask. What the store does not take
// now is noted once it does: until then the ask may be shown once more, which does no
// harm.
func (t *Tasks) Settle(ctx context.Context, task string, id []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	op := t.op(Settle)
	op.Key = mcp.IDKey(id)
	settle := func(ctx context.Context) error { return t.settleAsk(ctx, task, op) }
	if settle(ctx) != nil {
		t.backlog.add(settle)
	}
}

// SettleIn is Settle for whichever task waits, in the session that BehindKey names, for
// the response with this raw id. If none does, or the store cannot say and later knows of
// none, nothing is noted. ctx bounds what the caller waits for that.
func (t *Tasks) SettleIn(ctx context.Context, behind string, id []byte) {
	op := t.op(Settle)
	op.Key = mcp.IDKey(id)
	settle := func(ctx context.Context) error {
		task, err := t.AskedIn(ctx, behind, id)
		if err == nil && task == "" {
			err = t.miss(ctx) // it may have been lost, and be put back
		}
		switch {
		case errors.Is(err, ErrUnknown):
			return nil
		case err != nil:
			return err
		}
		return t.settleAsk(ctx, task, op)
	}
	if settle(ctx) != nil {
		t.backlog.add(settle)
	}
}

func (t *Tasks) settleAsk(ctx context.Context, id string, op Op) error {
	e, err := t.records.get(ctx, id)
	if err == nil { // and not from what a holder knows: it may be the holder no more
		e, err = t.records.apply(ctx, e, op)
	}
	if errors.Is(err, ErrUnknown) {
		err = t.miss(ctx)
	}
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	t.lookAt(ctx, id)
	t.changed(ctx, &e.Task)
	if err := t.strikeAsk(ctx, &e.Task, op.Key); err != nil {
		return err
	}
	if e.did(op.ID) {
		t.metrics.question(ctx, "settled")
	}
	return nil
}
