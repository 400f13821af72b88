package ledger

import (
	"context"
	"fmt"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// Make stores a new task for life with its call, and lists it as this process's and where it can be found without its id:
// in the order that whoever comes upon a part of that can tell from, the record last. One that stands already was stored
// by an attempt whose answer was lost.
func (l *Ledger) Make(ctx context.Context, t *task.Task, c *task.Call, life time.Duration) (Entry, error) {
	if err := l.mayTakeOn(ctx); err != nil {
		return NoEntry(), err
	}
	room := takeStepRoom()
	defer room.giveBack()
	held := l.heldBy(l.Holder, t.ID, life)
	steps := l.listed(append(room[:0], held[:]...), t, life)
	steps, err := l.called(ctx, steps, t, c, life)
	if err != nil {
		return NoEntry(), err
	}
	key := TaskKey(t.ID)
	steps = append(steps, storage.Making(key, t.Encode(), life+Spare))
	done, standing, err := l.Store.InOrder(ctx, steps...)
	switch {
	case err != nil:
		return NoEntry(), fmt.Errorf("upgrade: storing a task: %w", err)
	case done == len(steps):
		return Entry{t, 1, key}, nil
	}
	return parse(standing)
}

// called adds to others the step by which a new task's call is stored, or stores it where it is too large for one.
func (l *Ledger) called(ctx context.Context, to []storage.Step, t *task.Task, c *task.Call, life time.Duration) ([]storage.Step, error) {
	if !l.StoresCall(t) {
		return to, nil
	}
	kept, err := l.Records.encodeCall(ctx, t.ID, c, life)
	switch {
	case err != nil:
		return nil, err
	case len(kept) <= storage.StepBlob:
		return append(to, storage.PuttingBlob(l.Store, CallKey(t.ID), kept, life+Spare)), nil
	}
	return to, l.Records.putCall(ctx, t.ID, kept, life)
}

// StoresCall reports whether the call of a new task is stored with its record. Where the store dies with this process, and
// nobody needs the call while it is held but its holder, that one stores it if it lets go of a task that may go on.
func (l *Ledger) StoresCall(t *task.Task) bool { return !l.Dies() || t.Call != "" }

// Parting adds to others the steps by which this process lets go of a task that has ended, whose call is small and lives in no
// session: everybody is told, and where it is listed is put right. expires is that of Expires; stored says that the call is in the store.
func (l *Ledger) Parting(steps []storage.Step, t *task.Task, expires time.Time, stored bool) []storage.Step {
	if t.Principal != "" && !t.Terms.Unlisted {
		steps = append(steps, storage.Removing(l.Lists.LiveOf(t.Pool, t.Principal), t.ID))
	}
	if l.Store.Shared() {
		steps = append(steps, l.Notices.telling(t.ID))
	}
	if stored && !t.MayRerun() {
		steps = append(steps, storage.Deleting(CallKey(t.ID)))
	}
	if !l.Alone() { // then it stands in All
		steps = append(steps, keeping(l.Lists.KeptWith(t.ID), t.ID, time.Until(expires)+Spare))
	}
	return append(steps, storage.Removing(l.tasks, t.ID))
}

// IsSmall reports whether a call of so many bytes is kept whole, however much is escaped and sealed of it.
func IsSmall(size int64) bool { return 0 < size && size <= smallCall }
