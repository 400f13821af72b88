package sticky

import (
	"context"
	"sync"
)

// lists are the names of upstreams' lists, as they are in the store. The zero value knows none.
type lists struct {
	mu    sync.RWMutex // guards the field below
	known map[rollKey]string
}

func (l *lists) of(key rollKey) string {
	l.mu.RLock()
	name, ok := l.known[key]
	l.mu.RUnlock()
	if ok {
		return name
	}
	name = key.list()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = make(map[rollKey]string)
	}
	l.known[key] = name
	return name
}

// listed makes e a member of its owner's list. What cannot be one
// now is owed: it is tried again, and told of by Unlisted until then.
func (b *Bindings) listed(ctx context.Context, e entry) {
	if !e.key.Kind.counted() {
		return
	}
	if err := b.store.KeepMembers(ctx, b.lists.of(rollOf(e.key, e.binding.Upstream)), e.member(e.key.digest())); err != nil {
		b.owing.add(e)
	}
}
