package sticky

import (
	"context"
	"sync"
	"time"

	"berth/internal/storage"
)

// Owned is what an upstream owns.
type Owned struct {
	Tasks    int       // that have not ended, or whose result nobody was given
	Sessions int       // that have neither ended nor idled out
	// TasksUntil and SessionsUntil are when the last of them may be forgotten; zero: there is none.
	TasksUntil, SessionsUntil time.Time
}

// Counting.
const (
	// collectWithin is how long a task is counted whose end was told, for its client to fetch the
	// result.
	collectWithin = 2 * time.Minute

	// sessionSlack is the part of a session's idle time by which it may be counted too long, so that
	// its place in the list need not be written each time that it is used.
	sessionSlack = 24
)

// rollKey names the list of what an upstream owns of a kind.
type rollKey struct {
	kind           Kind
	pool, upstream string
}

// list tells neither pool nor upstream.
func (k rollKey) list() string {
	return "owned:" + Key{Kind: k.kind, Pool: k.pool, ID: k.upstream}.digest()
}

// counted reports whether what keys of a kind name is owned.
func (k Kind) counted() bool { return k == Task || k == Session }

func rollOf(key Key, upstream string) rollKey { return rollKey{key.Kind, key.Pool, upstream} }

// Owned counts what an upstream owns. The error wraps storage.ErrUnavailable or is ctx's.
func (b *Bindings) Owned(ctx context.Context, pool, upstream string) (o Owned, err error) {
	tasks, err := b.store.Listing(ctx, rollKey{Task, pool, upstream}.list(), 0)
	if err != nil {
		return Owned{}, err
	}
	sessions, err := b.store.Listing(ctx, rollKey{Session, pool, upstream}.list(), 0)
	if err != nil {
		return Owned{}, err
	}
	return Owned{Tasks: tasks.Size, Sessions: sessions.Size, TasksUntil: until(tasks), SessionsUntil: until(sessions)}, nil
}

// until is when the last one of a list expires; zero: it is empty.
func until(l storage.Listing) (last time.Time) {
	if l.Last > 0 {
		last = time.Now().Add(l.Last)
	}
	return last
}

// Unlisted counts what this process has bound to an upstream and the store has not counted yet.
func (b *Bindings) Unlisted(pool, upstream string) (n int) {
	if b.owing.count.Load() > 0 {
		n += b.owing.of(pool, upstream)
	}
	if b.pending.len() > 0 {
		n += b.pending.of(pool, upstream)
	}
	return n
}

// member is e's place in its owner's list.
func (e entry) member() storage.Member {
	return storage.Member{Name: e.key.digest(), Left: max(time.Until(time.UnixMilli(e.binding.Until)), time.Millisecond)}
}

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

// unlist takes what key names off the list of an upstream that does not own it any more. One that
// stays there is struck off by who reads the list.
func (b *Bindings) unlist(ctx context.Context, key Key, upstream string) {
	if !key.Kind.counted() || upstream == "" {
		return
	}
	b.owing.settle(key)
	if err := b.store.RemoveMember(ctx, b.rolls.of(rollOf(key, upstream)).name, key.digest()); err != nil {
		b.log.Debug("what an upstream owns no more is still counted", "kind", string(key.Kind), "upstream", upstream, "error", err)
	}
}
