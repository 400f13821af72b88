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
// fail-over may have brought the entry back, and it is in the way of those who come after. It returns the task if another process
// holds it.
func (p *Places) PruneQueue(ctx context.Context, t *task.Task, other queues.Turn) (elsewhere *task.Task) {
	if p.holds(other.ID) {
		return nil
	}
	e, err := p.ledger.Records.Get(ctx, other.ID)
	if err == nil {
		p.ledger.Overlooked.Meet(e.Task)
	}
	switch {
	case errors.Is(err, ledger.ErrUnknown) || err == nil && e.Holder == "":
		_ = p.ledger.Queues.RemoveAs(ctx, t, other.Name) // or another time
	case err == nil:
		return e.Task
	}
	return nil
}

// PruneSlots gives back places whose holders are gone, or are this process and know nothing
// of them. Another one that lives gives its own back, once its call is closed; it is told of them, for a store that has fallen
// back has brought back what it gave back before.
func (p *Places) PruneSlots(ctx context.Context, pool *routing.Pool, queue string) {
	var others []string
	lives := map[string]bool{}
	for _, u := range pool.Upstreams() {
		list := p.ledger.Lists.SlotsOf(queue, u.Name)
		taken, _ := p.ledger.Store.Members(ctx, list) // none, or another time
		for _, name := range taken {
			switch id, holder := whose(name); {
			case p.IsOwnStray(name), p.isLeft(ctx, id, holder, lives):
				p.ledger.Lists.Remove(ctx, list, name)
			case holder != p.ledger.Holder:
				others = append(others, ledger.PlaceTopic(list, name))
			}
		}
	}
	p.ledger.Notices.TellEach(ctx, others)
}

// whose reads the name of a place.
func whose(name string) (id, holder string) {
	id, rest, _ := strings.Cut(name, " ")
	holder, _, _ = strings.Cut(rest, " ")
	return id, holder
}

// IsOwnStray reports whether a place was taken by this process, which does not hold the call.
func (p *Places) IsOwnStray(name string) bool {
	id, holder := whose(name)
	return holder == p.ledger.Holder && !p.holds(id)
}

// isLeft reports whether the holder of a place is gone, and nobody will give it back. Which holders live is looked up once.
func (p *Places) isLeft(ctx context.Context, id, holder string, lives map[string]bool) bool {
	if holder == p.ledger.Holder || p.lives(ctx, holder, lives) {
		return false
	}
	e, err := p.ledger.Records.Get(ctx, id)
	if err == nil {
		p.ledger.Overlooked.Meet(e.Task)
	}
	return errors.Is(err, ledger.ErrUnknown) || err == nil && e.Holder != holder
}

// lives reports whether a holder has a lease, or may have.
func (p *Places) lives(ctx context.Context, holder string, known map[string]bool) bool {
	lives, looked := known[holder]
	if !looked {
		stands, err := p.ledger.Lists.Stands(ctx, holder)
		lives = stands || err != nil
		known[holder] = lives
	}
	return lives
}
