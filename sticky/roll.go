package sticky

import (
	"context"
	"sync"

	"berth/internal/storage"
)

// roll is one list of an upstream's, as one process writes it: what comes while a write is under
// way is written by the next one, together.
type roll struct {
	key     rollKey
	name    string
	mu      sync.Mutex // guards the fields below
	writing bool
	next    *gathered // for the next write; nil: nothing
}

// gathered is what one write makes members.
type gathered struct {
	members []storage.Member
	done    chan struct{} // closed with the write
	err     error         // of it
}

// rolls are those that this process writes.
type rolls struct {
	mu    sync.RWMutex // guards the field below
	known map[rollKey]*roll
}

func (r *rolls) of(key rollKey) *roll {
	r.mu.RLock()
	known := r.known[key]
	r.mu.RUnlock()
	if known != nil {
		return known
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known = r.known[key]; known == nil {
		if r.known == nil {
			r.known = make(map[rollKey]*roll)
		}
		known = &roll{key: key, name: key.list()}
		r.known[key] = known
	}
	return known
}

// list begins to make e a member of its owner's list. What it returns is to be given to listed;
// nil: nothing was begun.
func (b *Bindings) list(e entry) *gathered {
	if !e.key.Kind.counted() || !b.store.Durable() {
		return nil
	}
	r := b.rolls.of(rollOf(e.key, e.binding.Upstream))
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.next
	if g == nil {
		g = &gathered{done: make(chan struct{})}
	}
	g.members = append(g.members, e.member())
	if r.writing {
		r.next = g
		return g
	}
	r.writing, r.next = true, nil
	go b.writeRoll(r, g)
	return g
}

// writeRoll writes what was gathered, and what is gathered meanwhile. No caller's departure ends it.
func (b *Bindings) writeRoll(r *roll, g *gathered) {
	for g != nil {
		g.err = b.store.KeepMembers(context.Background(), r.name, g.members...)
		close(g.done)
		r.mu.Lock()
		g, r.next = r.next, nil
		r.writing = g != nil
		r.mu.Unlock()
	}
}

// listed waits until e is a member of its owner's list, which list has begun. What cannot be one
// now is owed: it is tried again, and told of by Unlisted until then.
func (b *Bindings) listed(ctx context.Context, e entry, begun *gathered) {
	if !e.key.Kind.counted() {
		return
	}
	var err error
	if begun == nil {
		err = b.store.KeepMembers(ctx, b.rolls.of(rollOf(e.key, e.binding.Upstream)).name, e.member())
	} else {
		select {
		case <-begun.done:
			err = begun.err
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		b.owing.add(e)
	}
}
