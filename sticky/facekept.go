package sticky

import (
	"context"
	"time"

	"berth/sticky/roll"
)

// Observe notes a task's state as its owner just told it: a changed status, or a
// life that is longer now, is written to the store by Run. current is the binding
// that the call was routed by, and stays as it is. next is the one that is kept now; nil: it is the same.
func (b *Bindings) Observe(key Key, current *Binding, seen Seen) (next *Binding) {
	return b.refresher.observe(&key, current, &seen)
}

// Touch notes that a session, or a value of an affinity, is in use. current is the binding that
// the call was routed by. The store hears of it once a minute at most. It returns the binding as it is kept now, and
// whether that is another than before.
func (b *Bindings) Touch(key Key, current Binding) (Binding, bool) {
	next, changed := b.refresher.touch(key, current)
	if changed {
		b.room.shares.Use(key)
	}
	return next, changed
}

// Keep has binding written as it is, by Run, over what stands of the same owner.
func (b *Bindings) Keep(key Key, binding Binding) {
	b.refresher.refresh(entry{key: key, binding: binding})
}

// Handshake returns what is kept of a session, see Beside. The error is ErrUnknown, or
// wraps storage.ErrUnavailable or ctx's.
func (b *Bindings) Handshake(ctx context.Context, session Key) ([]byte, error) {
	return b.handshakes.get(ctx, session)
}

// ReviseHandshake replaces what is kept of a session by what change makes of it; nil, or more than there is room for in caller's share,
// drops it. Errors are Handshake's and change's.
func (b *Bindings) ReviseHandshake(ctx context.Context, session Key, caller string, change func(handshake []byte) ([]byte, error)) error {
	next := ""
	err := b.handshakes.revise(ctx, session, func(handshake []byte) ([]byte, error) {
		revised, err := change(handshake)
		if next = b.room.fit(caller, session, string(revised)); next == "" {
			revised = nil
		}
		return revised, err
	})
	if err == nil {
		b.room.put(caller, session, next)
	}
	return err
}

// DropHandshake forgets what is kept of a session that has ended.
func (b *Bindings) DropHandshake(ctx context.Context, session Key) {
	b.handshakes.drop(ctx, session)
}

// Mark has every berth on the store see mark under key, for life, once it returned
// nil. The last one written counts.
func (b *Bindings) Mark(ctx context.Context, key Key, mark string, life time.Duration) error {
	return b.records.mark(ctx, key, mark, life)
}

// MarkOf returns the mark that stands under key, "" if there is none. Each call asks
// the store anew: an answer from a cache, or one that was shared with a caller who
// asked before, could be older than the mark. The error wraps storage.ErrUnavailable
// or is ctx's.
func (b *Bindings) MarkOf(ctx context.Context, key Key) (string, error) {
	return b.records.markOf(ctx, key)
}

// Owned counts what an upstream owns. The error wraps storage.ErrUnavailable or is ctx's.
func (b *Bindings) Owned(ctx context.Context, pool, upstream string) (Owned, error) {
	return b.census.Owned(ctx, pool, upstream)
}

// Unlisted counts what this process has bound to an upstream and the store has not counted yet.
func (b *Bindings) Unlisted(pool, upstream string) int {
	return b.rolls.owing.of(pool, upstream) + b.local.pending.of(pool, upstream)
}

// Left tells of what an upstream owns of a kind, at most so many, those first that are forgotten
// first, and how many there are. What the list holds for no reason is left out, and struck off. The
// error wraps storage.ErrUnavailable or is ctx's.
func (b *Bindings) Left(ctx context.Context, kind Kind, pool, upstream string, most int) (left []Left, all int, err error) {
	all, err = b.EachLeft(ctx, kind, pool, upstream, most, func(some []Left) error {
		left = append(left, some...)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return left, all, nil
}

// EachLeft is Left for who takes some at a time, and may take its time for them: what was bound, or
// unbound, meanwhile may be told or not. It ends with the first error of take.
func (b *Bindings) EachLeft(ctx context.Context, kind Kind, pool, upstream string, most int, take func(some []Left) error) (all int, err error) {
	return b.census.Each(ctx, roll.Key{Kind: kind, Pool: pool, Upstream: upstream}, most, take)
}
