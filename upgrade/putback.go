package upgrade

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"

	"golang.org/x/sync/errgroup"
)

// heldAtOnce is how many of the calls that are held are seen to at a time.
const heldAtOnce = 16

// putAllBack compares what this process holds with what the store says, and puts back what
// it has lost. With all that is everything, else what could not be compared before.
func (r *Runner) putAllBack(ctx context.Context, all bool) {
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
func (r *Runner) forAllHeld(do func(h *Held)) { someAtOnce(slices.Values(r.calls.all()), do) }

// someAtOnce does something with all of some, several at a time: one reply of the store that
// is late holds no other up.
func someAtOnce[T any](some iter.Seq[T], do func(T)) {
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

// look compares the record with what this process knows of it: a call of a task that has
// ended, or is another's, is given up; a record that has fallen behind is put right. It fails
// while the store does not say what stands, or does not take what is to stand.
func (h *Held) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, ledger.StoreTime)
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
	case stands.Holder == h.l.Holder:
		h.entry, h.sure = stands, began // others settle what it asks
		h.recount(&stands.Task)
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
	case errors.Is(refused, storage.ErrUnavailable), !h.ahead(stands):
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

// ahead reports whether this process has taken steps that the record does not come from.
// A record keeps its last ops, and its version grows by one with each: as long as fewer
// than it keeps have come, that of this process is among them.
func (h *Held) ahead(stands ledger.Entry) bool {
	last := len(h.entry.Ops) - 1
	return last >= 0 && !stands.State.Terminal() && stands.Round <= h.entry.Round &&
		stands.Version < h.entry.Version+task.KeptOps && !stands.Did(h.entry.Ops[last])
}

// putBack stores the record anew, with all that belongs to it, for the rest of its life;
// unless another berth may have ended the task before it was lost.
// The caller has h.mu.
func (h *Held) putBack(ctx context.Context) error {
	l, t := h.l, h.entry.Task
	life := time.Until(h.expires)
	if life <= 0 || errors.Is(h.givenUp(), errDiscarded) || l.Lease.Slept(h.sure) {
		return ledger.ErrUnknown
	}
	if err := l.TakeOn(ctx, &t); err != nil {
		return err
	}
	if t.Principal != "" {
		if err := l.Lists.Add(ctx, l.Lists.LiveOf(t.Pool, t.Principal), t.ID, life+ledger.Spare, 0); err != nil {
			return err
		}
	}
	if err := l.AddTask(ctx, &t, life); err != nil {
		return err
	}
	if err := l.Asks.Add(ctx, &t, life); err != nil {
		return err
	}
	if h.place.name != "" {
		if err := l.Lists.Add(ctx, h.place.list, h.place.name, life+ledger.Spare, 0); err != nil {
			return err
		}
	}
	if !t.State.Terminal() {
		if err := l.Records.KeepCall(ctx, t.ID, h.call.Unpack(), life); err != nil {
			return err
		}
	}
	if err := l.Once.Settle(ctx, &t, life); err != nil && !errors.Is(err, ledger.ErrKeyTaken) {
		return err
	}
	e, err := l.Records.Create(ctx, t, life)
	if err == nil {
		h.entry = e
		h.r.metrics.putBack.Add(ctx, 1)
	}
	return err
}

// reconcile compares the list of this process's tasks with those that it holds. What is
// listed and not held it sees to as to those of a dead holder: a step was taken of which
// it never heard, or the store has fallen back to a time when it held them. What is held
// and not listed is listed again.
func (p *Peers) reconcile(ctx context.Context) {
	listed, err := p.ledger.Store.Members(ctx, p.ledger.Lists.TasksOf(p.ledger.Holder))
	if err != nil || p.runner.calls.closed() {
		return
	}
	missing := make(map[string]*Held)
	for _, h := range p.runner.calls.all() {
		missing[h.id] = h
	}
	for _, id := range listed {
		delete(missing, id)
	}
	someAtOnce(slices.Values(listed), func(id string) { p.own(ctx, id) })
	someAtOnce(maps.Values(missing), func(h *Held) {
		_ = p.ledger.ListHeld(ctx, h.id, time.Until(h.expires)) // or with the next beat
	})
}

// own sees to a task that is listed as this process's, unless somebody does already.
func (p *Peers) own(ctx context.Context, id string) {
	if busy, err := p.runner.calls.tryClaim(id); busy != nil || err != nil {
		return
	}
	defer p.runner.calls.unclaim(id)
	if p.runner.pending.settle(ctx, id) != nil || p.runner.calls.get(id) != nil {
		return
	}
	if _, err := p.reapClaimed(ctx, id, p.ledger.Holder); err == nil && p.runner.calls.get(id) == nil {
		p.ledger.Lists.Remove(ctx, p.ledger.Lists.TasksOf(p.ledger.Holder), id)
	}
}
