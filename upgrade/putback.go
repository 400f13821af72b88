package upgrade

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
)

// putBackAtOnce is how many records are compared at a time after an outage.
const putBackAtOnce = 16

// putAllBack compares what this process holds with what the store says, and puts back
// what it has lost.
func (t *Tasks) putAllBack(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(putBackAtOnce)
	for _, h := range t.all() {
		group.Go(func() error {
			h.look(ctx)
			return nil
		})
	}
	_ = group.Wait() // what could not be compared is put right by its next step
}

// look compares the record with what this process knows of it: a call of a task that has
// ended, or is another's, is given up; a record that has fallen behind is put right.
func (h *Held) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	stands, err := h.t.records.get(ctx, h.entry.ID)
	switch {
	case errors.Is(err, ErrUnknown):
		_ = h.putBack(ctx) // it is tried anew with the next step
	case err != nil:
	case stands.State == Cancelled:
		h.end(errCancelled)
	case stands.State.Terminal(), stands.Holder != h.t.holder && stands.Round >= h.entry.Round && stands.State != InputRequired:
		h.end(errFenced)
	case h.ahead(&stands.Task):
		if e, err := h.t.records.replace(ctx, h.entry.Task, stands.version); err == nil {
			h.entry = e
		}
	}
}

// ahead reports whether this process has taken steps that the record does not show: a
// fail-over has lost them.
func (h *Held) ahead(stands *Task) bool {
	last := len(h.entry.Ops) - 1
	return last >= 0 && !stands.did(h.entry.Ops[last]) && stands.Round <= h.entry.Round
}

// putBack stores the record anew, with all that belongs to it, for the rest of its life.
// The caller has h.mu.
func (h *Held) putBack(ctx context.Context) error {
	t, task := h.t, h.entry.Task
	life := time.Until(task.Expires())
	if life <= 0 || errors.Is(h.Err(), errDiscarded) {
		return ErrUnknown
	}
	if err := t.lists.enlist(ctx, t.lists.tasksOf(t.holder), task.ID, life+spare, 0); err != nil {
		return err
	}
	if task.Principal != "" {
		if err := t.lists.enlist(ctx, t.lists.liveOf(task.Pool, task.Principal), task.ID, life+spare, 0); err != nil {
			return err
		}
	}
	if task.Terms.Slots > 0 && task.State == Dispatched {
		if err := t.lists.enlist(ctx, t.lists.slotsOf(task.Terms.Queue, task.Upstream), task.ID, life+spare, 0); err != nil {
			return err
		}
	}
	if err := t.keepCall(ctx, task.ID, h.call, life); err != nil {
		return err
	}
	if err := t.settleKey(ctx, &task, life); err != nil && !errors.Is(err, errKeyTaken) {
		return err
	}
	e, err := t.records.create(ctx, task, life)
	if err == nil {
		h.entry = e
		t.metrics.putBack.Add(ctx, 1)
	}
	return err
}

// reconcile sees to the tasks that are listed as this process's and that it does not hold:
// a step was taken of which it never heard, or the store has fallen back to a time when it
// held them. At the end of the process they are for others to see to, who can go on with
// what was not sent.
func (t *Tasks) reconcile(ctx context.Context) {
	if t.isDraining() {
		return
	}
	listed, err := t.store.Members(ctx, t.lists.tasksOf(t.holder))
	if err != nil {
		return
	}
	for _, id := range listed {
		if t.minds(id) {
			continue
		}
		if t.inherit(ctx, id, t.holder) == nil && !t.minds(id) {
			t.lists.strike(ctx, t.lists.tasksOf(t.holder), id)
		}
	}
}
