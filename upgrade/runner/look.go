package runner

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"

	"golang.org/x/sync/errgroup"
)

// PutAllBack compares what this process holds with what the store says, and puts back what
// it has lost. With all that is everything, else what could not be compared before.
func (r *Runner) PutAllBack(ctx context.Context, all bool) {
	r.forAllHeld(func(h *Held) {
		if all {
			h.doubtful.Store(true)
		}
		for range ledger.LooksAtOnce {
			if !h.doubtful.Load() {
				return
			}
			h.doubtful.Store(h.look(ctx) != nil && h.givenUp() == nil)
		}
	})
}

// forAllHeld does something with each call that is held, some at a time.
func (r *Runner) forAllHeld(do func(h *Held)) { SomeAtOnce(slices.Values(r.Calls.All()), do) }

// SomeAtOnce does something with all of some, several at a time: one reply of the store that
// is late holds no other up.
func SomeAtOnce[T any](some iter.Seq[T], do func(T)) {
	var group errgroup.Group
	group.SetLimit(heldAtOnce)
	for one := range some {
		group.Go(func() error {
			do(one)
			return nil
		})
	}
	_ = group.Wait() // nothing fails
}

// heldAtOnce is how many of the calls that are held are seen to at a time.
const heldAtOnce = 16

// LookAt gives up the call of a task that has ended, or is another's by now.
func (r *Runner) LookAt(ctx context.Context, id string) {
	if h := r.Calls.Get(id); h != nil {
		_ = h.look(ctx) // or its next step finds out
	}
}

// KeepAllAsking is keepAsking for all calls that are held.
func (r *Runner) KeepAllAsking(ctx context.Context) {
	r.forAllHeld(func(h *Held) { h.keepAsking(ctx) })
}

// Recount looks at a task that this process counts and does not hold, of which another berth
// has told: what that one goes on with, or has ended, it counts itself.
func (r *Runner) Recount(ctx context.Context, id string) {
	if !r.ledger.Quota.Has(id) || r.Calls.Get(id) != nil {
		return
	}
	e, err := r.ledger.Records.Get(ctx, id)
	if errors.Is(err, ledger.ErrUnknown) || err == nil && (e.State.Terminal() || e.Holder != "" && e.Holder != r.ledger.Holder) {
		r.ledger.Quota.Drop(id)
	}
}

// look compares the record with what this process knows of it: a call of a task that has
// ended, or is another's, is given up; a record that has fallen behind is put right. It fails
// while the store does not say what stands, or does not take what is to stand.
func (h *Held) look(ctx context.Context) error {
	ctx, cancel := ledger.Bounded(ctx)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	began := time.Now()
	stands, err := h.l.Records.Get(ctx, h.entry.ID)
	if repaired, failed := h.repair(ctx, stands, err); repaired || failed != nil {
		return failed
	}
	switch {
	case errors.Is(err, ledger.ErrUnknown):
		return nil // it is not to be put back
	case err != nil:
		return err
	case stands.State == task.Cancelled:
		h.entry = stands
		h.end(errCancelled)
	case stands.Holder == h.l.Holder && stands.Left:
		h.entry = stands
		h.leaveToOther() // which was not acknowledged
	case stands.Holder == h.l.Holder:
		h.entry, h.sure = stands, began // others settle what it asks
		h.recount(stands.Task)
	case stands.State == task.InputRequired && stands.Round == h.entry.Round:
		// Its own pause, which is not acknowledged yet.
	default:
		h.entry = stands
		h.end(errFenced)
	}
	return nil
}

// repair puts a record right that the store has lost, or that a fail-over has thrown back
// behind what this process did, and reports whether it has. Given are the record that
// stands, and why a step was refused. It fails if that is to be tried again: the store did
// not take it, or others were first. The caller has h.mu.
func (h *Held) repair(ctx context.Context, stands ledger.Entry, refused error) (repaired bool, err error) {
	switch {
	case errors.Is(refused, ledger.ErrUnknown):
		h.repairs++
		err = ledger.Unavailable(h.putBack(ctx))
	case errors.Is(refused, storage.ErrUnavailable), !isAhead(h.entry, stands):
		return false, nil
	default:
		h.repairs++
		var e ledger.Entry
		if e, err = h.l.Records.Replace(ctx, h.entry.Task, stands.Version); err == nil {
			h.entry = e
		} else {
			err = errors.Join(storage.ErrUnavailable, err)
		}
	}
	if errors.Is(err, storage.ErrUnavailable) {
		return false, err
	}
	return err == nil, nil
}

// isAhead reports whether this process, which stands at own, has taken steps that the record does not come from.
// A record keeps its last ops, and its version grows by one with each: as long as fewer
// than it keeps have come, that of this process is among them.
func isAhead(own, stands ledger.Entry) bool {
	last := len(own.Ops) - 1
	return last >= 0 && !stands.State.Terminal() && stands.Round <= own.Round &&
		stands.Version < own.Version+task.KeptOps && !stands.Did(own.Ops[last])
}

// mayPutBack fails if the record of h is not to be stored anew. If another berth may have ended the task before it was lost,
// the call is given up: a process that stood still for longer than its lease lives knows that nobody has only of a store
// that was flushed before. The caller has h.mu.
func mayPutBack(ctx context.Context, h *Held) error {
	lease := h.l.Lease
	switch {
	case !time.Now().Before(h.Expires), errors.Is(h.givenUp(), errDiscarded):
		return ledger.ErrUnknown
	case !lease.Slept(h.sure):
		return nil
	}
	before, err := h.l.Epoch.WasFlushed(ctx, h.sure, lease.StoodUntil(h.sure))
	if err != nil || before {
		return err
	}
	h.end(errFenced)
	return ledger.ErrUnknown
}

// putBack stores the record anew, with all that belongs to it, for the rest of its life. The caller has h.mu.
func (h *Held) putBack(ctx context.Context) error {
	if err := mayPutBack(ctx, h); err != nil {
		return err
	}
	l, t, life := h.l, h.entry.Task, time.Until(h.Expires)
	if err := l.TakeOn(ctx, t); err != nil {
		return err
	}
	if t.Principal != "" && !t.Terms.Unlisted && !t.State.Terminal() {
		if err := l.Lists.Add(ctx, l.Lists.LiveOf(t.Pool, t.Principal), t.ID, life+ledger.Spare, 0); err != nil {
			return err
		}
	}
	if err := l.AddTask(ctx, t, life); err != nil {
		return err
	}
	if err := l.Asks.Add(ctx, t, life); err != nil {
		return err
	}
	if h.slot.at.name != "" {
		if err := l.Lists.Add(ctx, h.slot.at.list, h.slot.at.name, life+ledger.Spare, 0); err != nil {
			return err
		}
	}
	if !t.State.Terminal() {
		if err := l.Records.KeepCall(ctx, t.ID, h.call.Unpack(), life); err != nil {
			return err
		}
		h.stored = true
	}
	if err := l.Once.Settle(ctx, t, life); err != nil && !errors.Is(err, ledger.ErrKeyTaken) {
		return err
	}
	if t.State.Terminal() {
		if err := l.Outbox.Add(ctx, t, t.AllMessages()); err != nil {
			return err
		}
	}
	began := time.Now()
	e, err := l.Records.Create(ctx, t, life)
	if err == nil {
		h.entry, h.sure = e, began
		h.r.Metrics.PutBack(ctx)
	}
	return err
}
