package upgrade

import (
	"context"
	"errors"

	"berth/internal/storage"
)

// Cancel ends a task. A task that has ended stays as it is. Errors: ErrUnknown, or one
// that wraps storage.ErrUnavailable: then the task is cancelled as soon as the store
// takes that.
func (t *Tasks) Cancel(ctx context.Context, id string, who Asker) error {
	e, err := t.find(ctx, id, who)
	if err != nil || e.State.Terminal() {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	op := t.op(Cancel)
	drop := func(ctx context.Context) error { return t.drop(ctx, e, op) }
	err = unavailable(drop(ctx))
	if errors.Is(err, storage.ErrUnavailable) {
		t.backlog.add(drop) // it may be stored, and the holder not know of it
	}
	if err == nil {
		t.withdraw(ctx, &e.Task, who.Envelope)
	}
	return err
}

// drop cancels a task and has its call ended.
func (t *Tasks) drop(ctx context.Context, e entry, op Op) error {
	h := t.custody.get(e.ID)
	apply := t.records.apply
	if h != nil {
		apply = func(ctx context.Context, _ entry, op Op) (entry, error) { return h.step(ctx, op) }
	}
	after, err := apply(ctx, e, op)
	switch {
	case errors.Is(err, ErrUnknown):
		return t.miss(ctx)
	case err != nil:
		return err
	}
	t.leave(ctx, &after.Task)
	switch {
	case h != nil:
		h.end(errCancelled)
	case e.Holder != "":
		// If this is lost, the holder learns of it when its result is refused.
		_ = t.lists.enlist(ctx, t.lists.mailOf(e.Holder), e.ID, t.life, 0)
	}
	t.changed(ctx, &e.Task)
	return nil
}
