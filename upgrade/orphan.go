package upgrade

import (
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
)

// reaper finds holders that are gone. Every berth has one; what two of them do to one
// task the record's compare-and-swap sorts out.
type reaper struct {
	t      *Tasks
	missed map[string]int // by holder: ticks in a row without a lease
	last   time.Time
}

func newReaper(t *Tasks) *reaper { return &reaper{t: t, missed: map[string]int{}} }

// missesToAct is how many ticks in a row a lease must be missing. One may be a renewal
// that was late.
const missesToAct = 2

// look acts on holders whose lease is gone. It believes only a store that has served
// without a break for as long as a lease lives: after an outage all of them are gone, and
// those who live need a moment to come back. Beats that are not a tick apart do not count.
func (r *reaper) look(ctx context.Context) {
	if !r.t.store.Shared() || time.Since(r.last) < r.t.beat()*9/10 {
		return
	}
	if r.t.isDraining() {
		return // those who stay can go on with what was not sent
	}
	r.last = time.Now()
	if !r.t.store.Healthy() || !r.t.trust.steady(r.t.lease) {
		clear(r.missed)
		return
	}
	holders, err := r.t.store.Members(ctx, r.t.lists.holders())
	if err != nil {
		clear(r.missed)
		return
	}
	still := make(map[string]int)
	for _, holder := range holders {
		if holder == r.t.holder {
			continue
		}
		switch _, err := r.t.store.Get(ctx, r.t.lists.leaseOf(holder)); {
		case err == nil:
		case errors.Is(err, storage.ErrNotFound):
			still[holder] = r.missed[holder] + 1
		default:
			clear(r.missed)
			return
		}
	}
	r.missed = still
	for holder, misses := range still {
		if misses >= missesToAct && r.t.reap(ctx, holder) == nil {
			delete(r.missed, holder)
		}
	}
}

// reap sees to all that a dead holder left. It may be repeated.
func (t *Tasks) reap(ctx context.Context, holder string) error {
	left, err := t.store.Members(ctx, t.lists.tasksOf(holder))
	if err != nil {
		return err
	}
	if len(left) > 0 {
		t.log.Warn("a berth that held calls is gone", "holder", holder, "tasks", len(left))
	}
	for _, id := range left {
		if err := t.inherit(ctx, id, holder); err != nil {
			return err
		}
		if err := t.store.Delist(ctx, t.lists.tasksOf(holder), id); err != nil {
			return err
		}
	}
	if err := t.store.Delete(ctx, t.lists.mailOf(holder)); err != nil {
		return err
	}
	return t.store.Delist(ctx, t.lists.holders(), holder)
}

// inherit sees to one task that a dead holder had listed.
func (t *Tasks) inherit(ctx context.Context, id, holder string) error {
	e, err := t.records.get(ctx, id)
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	switch e.Holder {
	case holder:
	case "":
		t.freeOrphaned(ctx, &e.Task)
		return nil
	default:
		return nil // its places are that holder's
	}
	c, err := t.heir(ctx, &e.Task)
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		return err
	case c != nil:
		return t.adopt(ctx, e, c)
	}
	return t.orphan(ctx, e, err)
}

// heir returns the call with which this berth can go on with a task of a dead holder; nil
// if it cannot, with the reason if there is one beside the holder's death.
func (t *Tasks) heir(ctx context.Context, task *Task) (*Call, error) {
	unsent := task.Waiting() && task.Handed
	again := task.State == Dispatched && (task.Terms.Rerun || task.Follows != "")
	if !unsent && !again || t.isDraining() || t.pools[task.Pool] == nil {
		return nil, nil
	}
	return t.callOf(ctx, task)
}

// adopt goes on with a task as its holder.
func (t *Tasks) adopt(ctx context.Context, e entry, c *Call) error {
	t.claim(e.ID)
	defer t.unclaim(e.ID)
	if err := t.lists.enlist(ctx, t.lists.tasksOf(t.holder), e.ID, time.Until(e.Expires())+spare, 0); err != nil {
		return err
	}
	op := t.op(Adopt)
	op.Of = e.Holder
	after, err := t.records.apply(ctx, e, op)
	switch {
	case errors.Is(err, ErrTerminal), errors.Is(err, ErrStale), errors.Is(err, ErrState), errors.Is(err, ErrUnknown):
		return nil // another berth was first
	case err != nil:
		return err
	}
	if !t.tookOver(&after.Task, op) {
		return nil
	}
	t.metrics.adopted.Add(ctx, 1)
	t.freeOrphaned(ctx, &e.Task) // by the one alone that goes on: it takes places of its own now
	t.hold(after, c).start()
	return nil
}

// orphan ends a task whose holder is gone and that nobody can go on with.
func (t *Tasks) orphan(ctx context.Context, e entry, reason error) error {
	failure := lost(mcp.ReasonHolderLost, "the berth that held the call is gone", e.Task)
	if reason != nil {
		failure = wordFailure(reason, e.Task)
	}
	op := t.op(Orphan)
	op.Of, op.Message, op.Outcome = e.Holder, failure.Message, op.ID
	if err := t.records.keepOutcome(ctx, e.ID, op.Outcome, failure.Object(), time.Until(e.Expires())); err != nil {
		return err
	}
	after, err := t.records.apply(ctx, e, op)
	switch {
	case errors.Is(err, ErrTerminal), errors.Is(err, ErrStale), errors.Is(err, ErrUnknown):
		t.records.dropOutcome(ctx, e.ID, op.Outcome)
		return nil
	case err != nil:
		return err
	}
	t.freeOrphaned(ctx, &e.Task)
	t.leave(ctx, &after.Task)
	t.metrics.orphaned.Add(ctx, 1)
	t.changed(ctx, e.ID)
	return nil
}

// freeOrphaned gives back the places of a call that is not under way any more.
func (t *Tasks) freeOrphaned(ctx context.Context, task *Task) {
	if task.Terms.Slots == 0 || task.State == Dispatched && task.Holder != "" && t.holds(task.ID) != nil {
		return
	}
	t.lists.strike(ctx, t.lists.waitingIn(task.Terms.Queue), task.ID)
	if task.Upstream != "" {
		t.freeSlot(ctx, task.ID, task.Terms.Queue, task.Upstream)
	}
}

// abandon fails a task that this process has taken and cannot go on with.
func (t *Tasks) abandon(e entry, reason error) {
	h := t.hold(e, &Call{})
	h.fail(reason)
	h.release()
}
