package sticky

import (
	"context"
	"errors"
	"time"
)

// Seen is what an answer tells of a task.
type Seen struct {
	Status string        // "" if it does not say
	Ended  bool          // the status is an end
	Given  bool          // the result was given out, or there is none to be had
	TTL    time.Duration // time to live since creation; 0: unlimited, or it does not say
}

// Observe notes a task's state as its owner just told it: a changed status, or a
// life that is longer now, is written to the store by Run. current is the binding
// that the call was routed by. It returns the binding as it is kept now, and whether
// that is another than before.
func (b *Bindings) Observe(key Key, current Binding, seen Seen) (Binding, bool) {
	next := current
	if seen.Status != "" {
		next.Status = seen.Status
	}
	now := time.Now()
	if expires := now.Add(b.life(key.Kind, seen.TTL)); expires.After(current.Expires.Add(extendBeyond)) {
		next.Expires = expires
	}
	counts := b.recount(&next, current, seen, now)
	if next == current {
		return current, false
	}
	b.refresh(entry{key: key, binding: next, counts: counts})
	return next, true
}

// recount says how long the task counts from now on, and what that changes. What counts no more
// stays so. What an older berth bound is counted from now on.
func (b *Bindings) recount(next *Binding, current Binding, seen Seen, now time.Time) counts {
	if current.Made == 0 {
		next.Made = now.UnixMilli()
	} else if current.Until == 0 {
		return countsAsBefore
	}
	switch {
	case seen.Given:
		next.Until = 0
		return countsNoMore
	case seen.Ended:
		soon := now.Add(collectWithin).UnixMilli()
		if current.Until != 0 && current.Until <= soon {
			return countsAsBefore
		}
		next.Until = soon
		return countsUntil
	}
	until := b.countedUntil(Task, *next, seen.TTL, now)
	if change := until - current.Until; max(change, -change) <= extendBeyond.Milliseconds() {
		return countsAsBefore
	}
	next.Until = until
	return countsUntil
}

// Touch notes that a session, or a value of an affinity, is in use. current is the binding that
// the call was routed by. The store hears of it once a minute at most. Results as of Observe.
func (b *Bindings) Touch(key Key, current Binding) (Binding, bool) {
	now, idle := time.Now(), b.options.SessionIdle
	due := now.Add(idle - min(touchEvery, idle/2))
	if current.Expires.After(due) {
		return current, false
	}
	if latest, ok := b.near.get(key); ok {
		current = latest // a call routed at the same time may have been first
	}
	if current.Expires.After(due) {
		return current, false
	}
	current.Expires = now.Add(idle)
	current.Kept = b.prolonged(key, current.Kept)
	counts := countsAsBefore
	if key.Kind.counted() && current.Expires.UnixMilli() > current.Until {
		current.Until, counts = b.countedUntil(key.Kind, current, 0, now), countsUntil
		if current.Made == 0 {
			current.Made = now.UnixMilli()
		}
	}
	b.refresh(entry{key: key, binding: current, counts: counts})
	return current, true
}

// Keep has binding written as it is, by Run, over what stands of the same owner.
func (b *Bindings) Keep(key Key, binding Binding) {
	b.refresh(entry{key: key, binding: binding})
}

// refresh lets this process know e at once and the store soon. It never blocks:
// what is dropped is told again when the next answer extends the binding.
func (b *Bindings) refresh(e entry) {
	b.near.refresh(e)
	if !b.enqueue(e) && e.counts == countsUntil {
		b.owing.add(e)
	}
}

// enqueue hands e to Run, if there is room.
func (b *Bindings) enqueue(e entry) bool {
	select {
	case b.updates <- e:
		return true
	default:
		b.metrics.dropped()
		return false
	}
}

// apply writes e over the binding that stands, if that has the same owner or yields; a
// binding that the store lost is put back.
func (b *Bindings) apply(ctx context.Context, e entry) error {
	if e.key.Kind == Handshake { // one that is gone stays gone: its session is not moved then
		return b.revise(ctx, e.key, b.handshakeLife(), func(handshake []byte) ([]byte, error) { return handshake, nil })
	}
	life := time.Until(e.binding.Expires)
	if life <= 0 {
		return nil
	}
	err := b.exchange(ctx, e.key, life, e.binding, func(standing Binding) error {
		if !e.agrees(standing) && !standing.yieldsTo(e.binding) || e.binding.yieldsTo(standing) {
			return ErrOwned
		}
		return nil
	})
	switch {
	case errors.Is(err, ErrUnknown):
		_, _, err = b.store.PutIfAbsent(ctx, e.key.digest(), []byte(e.binding.encode()), life)
		if e.binding.Until != 0 && e.counts == countsAsBefore {
			e.counts = countsUntil // the store lost its place as well
		}
	case errors.Is(err, ErrOwned):
		b.near.remove(e.key)
		return nil
	}
	switch {
	case err == nil:
		b.recounted(ctx, e)
	case e.counts == countsUntil:
		b.owing.add(e)
	}
	return err
}

// recounted writes what a refresh changes of the owner's list.
func (b *Bindings) recounted(ctx context.Context, e entry) {
	switch e.counts {
	case countsUntil:
		b.listed(ctx, e)
	case countsNoMore:
		b.unlist(ctx, e.key, e.binding.Upstream)
	}
}
