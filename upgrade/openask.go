package upgrade

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/upgrade/task"
)

// OpenAsk is a request of an upstream's that its client has not answered.
type OpenAsk struct {
	Task string
	ID   []byte // JSON-RPC id, as mcp.IDKey spells it
}

// asks are what upstreams ask mid-call, by their sessions.
type asks struct{ lists lists }

// askName is how an ask is listed.
func askName(task, id string) string { return task + " " + id }

// settled stands in the place of the task in the name of an ask that is open no more. No
// task has it for its id.
const settled = "-"

// settledLife is how long it is known that an ask was settled: a stream that is resumed
// may bring it again.
const settledLife = time.Hour

// remove notes that an ask of a task's is open no more.
func (a asks) remove(ctx context.Context, t *task.Task, key string) error {
	list := a.lists.asksIn(t.Behind)
	if err := a.lists.add(ctx, list, askName(settled, key), settledLife, 0); err != nil {
		return err
	}
	return a.lists.store.Delist(ctx, list, askName(t.ID, key))
}

// add lists what a call asks, for life.
func (a asks) add(ctx context.Context, t *task.Task, life time.Duration) error {
	if t.Session == "" {
		return nil
	}
	for _, ask := range t.OpenAsks() {
		if err := a.lists.add(ctx, a.lists.asksIn(t.Behind), askName(t.ID, ask.Key), life+spare, 0); err != nil {
			return err
		}
	}
	return nil
}

// close strikes what a call has left open. That is not settled: it may be another
// call's, which a stream that was resumed has replayed into this one.
func (a asks) close(ctx context.Context, t *task.Task) error {
	open, err := a.open(ctx, t.Behind)
	for _, ask := range open {
		if ask.Task == t.ID {
			err = errors.Join(err, a.lists.store.Delist(ctx, a.lists.asksIn(t.Behind), askName(t.ID, string(ask.ID))))
		}
	}
	return err
}

// all returns what was asked in an upstream's session, settled or not.
func (a asks) all(ctx context.Context, behind string) ([]OpenAsk, error) {
	listed, err := a.lists.store.Members(ctx, a.lists.asksIn(behind))
	asked := make([]OpenAsk, 0, len(listed))
	for _, name := range listed {
		if task, id, ok := strings.Cut(name, " "); ok {
			asked = append(asked, OpenAsk{task, []byte(id)})
		}
	}
	return asked, err
}

// open returns what is waited for in an upstream's session.
func (a asks) open(ctx context.Context, behind string) ([]OpenAsk, error) {
	asked, err := a.all(ctx, behind)
	return slices.DeleteFunc(asked, func(ask OpenAsk) bool { return ask.Task == settled }), err
}

// by returns the task in whose call an ask came, settled if it is open no more; "" if
// it did not come.
func (a asks) by(ctx context.Context, behind, key string) (task string, err error) {
	asked, err := a.all(ctx, behind)
	for _, ask := range asked {
		if string(ask.ID) == key {
			return ask.Task, nil
		}
	}
	return "", err
}

// waiting returns the task whose upstream waits, in the session that BehindKey names, for
// the response with this raw id; "" if none does. The error wraps storage.ErrUnavailable.
func (a asks) waiting(ctx context.Context, behind string, id []byte) (task string, err error) {
	open, err := a.open(ctx, behind)
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
func (r *Runner) Settle(ctx context.Context, t string, id []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	op := r.ledger.newOp(task.Settle)
	op.Key = mcp.IDKey(id)
	settle := func(ctx context.Context) error { return r.settleAsk(ctx, t, op) }
	if settle(ctx) != nil {
		r.ledger.backlog.add(settle)
	}
}

// SettleIn is Settle for whichever task waits, in the session that BehindKey names, for
// the response with this raw id. If none does, or the store cannot say and later knows of
// none, nothing is noted. ctx bounds what the caller waits for that.
func (r *Runner) SettleIn(ctx context.Context, behind string, id []byte) {
	op := r.ledger.newOp(task.Settle)
	op.Key = mcp.IDKey(id)
	settle := func(ctx context.Context) error {
		task, err := r.ledger.asks.waiting(ctx, behind, id)
		if err == nil && task == "" {
			err = r.ledger.epoch.miss(ctx) // it may have been lost, and be put back
		}
		switch {
		case errors.Is(err, ErrUnknown):
			return nil
		case err != nil:
			return err
		}
		return r.settleAsk(ctx, task, op)
	}
	if settle(ctx) != nil {
		r.ledger.backlog.add(settle)
	}
}

func (r *Runner) settleAsk(ctx context.Context, id string, op task.Op) error {
	e, err := r.ledger.records.get(ctx, id)
	if err == nil { // and not from what a holder knows: it may be the holder no more
		e, err = r.ledger.records.apply(ctx, e, op)
	}
	if errors.Is(err, ErrUnknown) {
		err = r.ledger.epoch.miss(ctx)
	}
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	r.lookAt(ctx, id)
	r.ledger.notices.changed(ctx, &e.Task)
	if err := r.ledger.asks.remove(ctx, &e.Task, op.Key); err != nil {
		return err
	}
	if e.Did(op.ID) {
		r.metrics.question(ctx, "settled")
	}
	return nil
}
