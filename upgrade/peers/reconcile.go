package peers

import (
	"context"
	"maps"
	"slices"
	"time"

	"berth/upgrade/runner"
)

// reconcile compares the list of this process's tasks with those that it holds. What is
// listed and not held it sees to as to those of a dead holder: a step was taken of which
// it never heard, or the store has fallen back to a time when it held them. What is held
// and not listed is listed again, unless it is another's by now: whoever took this process for dead as it came
// back has taken the entry with the task.
func (p *Peers) reconcile(ctx context.Context) {
	listed, err := p.ledger.Store.Members(ctx, p.ledger.Lists.TasksOf(p.ledger.Holder))
	if err != nil || p.runner.Calls.Closed() {
		return
	}
	missing := make(map[string]*runner.Held)
	for _, h := range p.runner.Calls.All() {
		missing[h.ID] = h
	}
	for _, id := range listed {
		delete(missing, id)
	}
	runner.SomeAtOnce(slices.Values(listed), func(id string) { p.own(ctx, id) })
	runner.SomeAtOnce(maps.Values(missing), func(h *runner.Held) {
		if p.runner.LookAt(ctx, h.ID); !h.IsFenced() {
			_ = p.ledger.ListHeld(ctx, h.ID, time.Until(h.Expires)) // or with the next beat
		}
	})
}

// own sees to a task that is listed as this process's, unless somebody does already.
func (p *Peers) own(ctx context.Context, id string) {
	if busy, err := p.runner.Calls.TryClaim(id); busy != nil || err != nil {
		return
	}
	defer p.runner.Calls.Unclaim(id)
	if p.ledger.Pending.Settle(ctx, id) != nil || p.runner.Calls.Get(id) != nil {
		return
	}
	if _, err := p.reapClaimed(ctx, id, p.ledger.Holder, false); err == nil && p.runner.Calls.Get(id) == nil {
		p.ledger.Lists.Remove(ctx, p.ledger.Lists.TasksOf(p.ledger.Holder), id)
	}
}

// settleAll takes all steps again that are not known to have been taken.
func (p *Peers) settleAll(ctx context.Context) {
	runner.SomeAtOnce(slices.Values(p.ledger.Pending.All()), func(id string) { p.own(ctx, id) })
}
