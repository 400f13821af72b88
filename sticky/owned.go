package sticky

import (
	"context"
	"time"

	"berth/internal/storage"
)

// Owned is what an upstream owns.
type Owned struct {
	Tasks    int // that have not ended, or whose result nobody was given
	Sessions int // that have neither ended nor idled out
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

// member is e's place in its owner's list, by the name of its binding.
func (e entry) member(name string) storage.Member {
	return storage.Member{Name: name, Left: max(time.Until(time.UnixMilli(e.binding.Until)), time.Millisecond)}
}

// unlist takes what key names off the list of an upstream that does not own it any more. One that
// stays there is struck off by who reads the list.
func (b *Bindings) unlist(ctx context.Context, key Key, upstream string) {
	if !key.Kind.counted() || upstream == "" {
		return
	}
	b.owing.settle(key)
	if err := b.store.RemoveMember(ctx, b.lists.of(rollOf(key, upstream)), key.digest()); err != nil {
		b.log.Debug("what an upstream owns no more is still counted", "kind", string(key.Kind), "upstream", upstream, "error", err)
	}
}
