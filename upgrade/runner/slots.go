package runner

import (
	"context"
	"errors"
	"strings"

	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/queues"
	"berth/upgrade/task"
)

// pruneQueue takes a task out of the line that task stands in if nobody holds it: a
// fail-over may have brought the entry back, and it is in the way of those who come after.
func (r *Runner) pruneQueue(ctx context.Context, t *task.Task, other queues.Turn) {
	if r.Calls.Get(other.ID) != nil {
		return
	}
	e, err := r.ledger.Records.Get(ctx, other.ID)
	if errors.Is(err, ledger.ErrUnknown) || err == nil && e.Holder == "" {
		_ = r.ledger.Queues.RemoveAs(ctx, t, other.Name) // or another time
	}
}

// pruneSlots gives back places whose holders are gone, or are this process and know nothing
// of them. Another one that lives gives its own back, once its call is closed.
func (r *Runner) pruneSlots(ctx context.Context, pool *routing.Pool, queue string) {
	for _, u := range pool.Upstreams() {
		list := r.ledger.Lists.SlotsOf(queue, u.Name)
		taken, _ := r.ledger.Store.Members(ctx, list) // none, or another time
		for _, name := range taken {
			if r.isStray(ctx, name) {
				r.ledger.Lists.Remove(ctx, list, name)
			}
		}
	}
}

// isStray reports whether nobody will give a place back.
func (r *Runner) isStray(ctx context.Context, name string) bool {
	id, rest, _ := strings.Cut(name, " ")
	holder, _, _ := strings.Cut(rest, " ")
	if holder == r.ledger.Holder {
		return r.Calls.Get(id) == nil
	}
	if lives, err := r.ledger.Lists.Stands(ctx, holder); lives || err != nil {
		return false
	}
	e, err := r.ledger.Records.Get(ctx, id)
	if err == nil {
		r.ledger.Overlooked.Meet(e.Task)
	}
	return errors.Is(err, ledger.ErrUnknown) || err == nil && e.Holder != holder
}
