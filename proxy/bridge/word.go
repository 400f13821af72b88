package bridge

import (
	"context"

	"berth/proxy/bridge/held"
)

// word is that of other berths, which nobody hears before a call here waits for its client: it holds one then.
type word chan struct{}

// await has it heard from now on.
func (w word) await() {
	select {
	case w <- struct{}{}:
	default: // it is
	}
}

// hear leaves calls that have asked here to the berths that take them on, until ctx ends.
func (b *Bridge) hear(ctx context.Context) {
	store := b.options().Store
	if store == nil || !store.Shared() {
		return
	}
	select {
	case <-b.word:
	case <-ctx.Done():
		return
	}
	_ = store.Watch(ctx, held.Topic, func(id string) { // it ends with ctx
		for _, calls := range b.allCalls() {
			calls.Taken(ctx, id)
		}
	})
}

// allCalls are those of each upstream.
func (b *Bridge) allCalls() (all []*held.Calls) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faces {
		all = append(all, f.calls)
	}
	return all
}
