package runner

import (
	"context"

	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// StandingAlone returns the record of a task whose call is held here, where that alone decides: no other process sees the
// store, and the record changes by the steps of its holder.
func (r *Runner) StandingAlone(id string) (e ledger.Entry, alone bool) {
	if r.ledger.Store.Shared() {
		return ledger.Entry{}, false
	}
	h := r.Calls.Get(id)
	if h == nil || !h.ChangesAlone() {
		return ledger.Entry{}, false
	}
	return h.Standing(), true
}

// stepAlone takes a step that the holder of a call alone has to know of, where the store dies with it: the next one that is
// stored takes this one along. It reports false where the step is to be stored, for the record is not as this process left it,
// may be read past its holder, or does not allow the step.
func (h *Held) stepAlone(ctx context.Context, op *task.Op) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.l.Dies() || h.entry.Call != "" || !h.l.Records.Stands(ctx, h.entry) {
		return false
	}
	next, _, err := task.Transition(h.entry.Task, op)
	if err == nil {
		h.entry.Task = next
	}
	return err == nil
}
