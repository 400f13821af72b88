package places

import (
	"context"
	"errors"
	"strings"

	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/queues"
	"berth/upgrade/task"
)

// PruneQueue takes a task out of the line that task stands in if nobody holds it: a
// fail-over may have brought the entry back, and it is in the way of those who come after.
func (p *Places) PruneQueue(ctx context.Context, t *task.Task, other queues.Turn) {
	if p.holds(other.ID) {
		return
	}
	e, err := p.ledger.Records.Get(ctx, other.ID)
	if errors.Is(err, ledger.ErrUnknown) || err == nil && e.Holder == "" {
		_ = p.ledger.Queues.RemoveAs(ctx, t, other.Name) // or another time
	}
}

// PruneSlots gives back places whose holders are gone, or are this process and know nothing
// of them. Another one that lives gives its own back, once its call is closed.
func (p *Places) PruneSlots(ctx context.Context, pool *routing.Pool, queue string) {
	for _, u := range pool.Upstreams() {
		list := p.ledger.Lists.SlotsOf(queue, u.Name)
		taken, _ := p.ledger.Store.Members(ctx, list) // none, or another time
		for _, name := range taken {
			if p.isStray(ctx, name) {
				p.ledger.Lists.Remove(ctx, list, name)
			}
		}
	}
}

// isStray reports whether nobody will give a place back.
func (p *Places) isStray(ctx context.Context, name string) bool {
	id, rest, _ := strings.Cut(name, " ")
	holder, _, _ := strings.Cut(rest, " ")
	if holder == p.ledger.Holder {
		return !p.holds(id)
	}
	if lives, err := p.ledger.Lists.Stands(ctx, holder); lives || err != nil {
		return false
	}
	e, err := p.ledger.Records.Get(ctx, id)
	if err == nil {
		p.ledger.Overlooked.Meet(e.Task)
	}
	return errors.Is(err, ledger.ErrUnknown) || err == nil && e.Holder != holder
}
