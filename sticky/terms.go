package sticky

import (
	"cmp"
	"time"
)

const (
	// keptAfter is by how much a task's binding outlives the task's own TTL, so that
	// the owner and not berth tells a late client that the task is gone.
	keptAfter = 5 * time.Minute

	touchEvery   = time.Minute // how often a session's expiry is extended at most
	extendBeyond = time.Minute // how much later an expiry must be to be worth a write
	hintLife     = 15 * time.Minute

	// ProvisionalLife is how long a provisional binding is kept.
	ProvisionalLife = 5 * time.Minute

	// collectWithin is how long a task is counted whose end was told, for its client to fetch the
	// result.
	collectWithin = 2 * time.Minute

	// sessionSlack is the part of a session's idle time by which it may be counted too long, so that
	// its place in the list need not be written each time that it is used.
	sessionSlack = 24
)

// terms are how long a binding is kept, and how long it counts as owned.
type terms struct {
	maxTTL, sessionIdle time.Duration
	hide                func(id string) string // nil: nothing is kept of an id
}

func termsOf(o Options) terms {
	return terms{maxTTL: cmp.Or(o.MaxTTL, 168*time.Hour), sessionIdle: cmp.Or(o.SessionIdle, 24*time.Hour), hide: o.Hide}
}

// entry is a binding that is made now.
func (t *terms) entry(key Key, binding Binding, ttl time.Duration) entry {
	e := entry{key: key, binding: binding}
	t.complete(&e, ttl, time.Now())
	return e
}

// complete completes a binding that is made now, at that time. A claim says itself whose it is.
func (t *terms) complete(e *entry, ttl time.Duration, now time.Time) {
	key, binding := &e.key, &e.binding
	if key.Kind != Claim {
		binding.Principal = key.Principal
	}
	life := t.life(key.Kind, ttl)
	if binding.Provisional() {
		life = min(life, ProvisionalLife)
	}
	binding.Expires = now.Add(life)
	if key.Kind.Counted() {
		if key.Kind == Task && t.hide != nil {
			binding.ID = t.hide(key.ID)
		}
		binding.Made = now.UnixMilli()
		binding.Until = t.countedUntil(key.Kind, binding, ttl, now)
	}
}

// countedUntil is how long what a binding names counts as owned, that is alive now. A task's ttl
// counts from its creation.
func (t *terms) countedUntil(kind Kind, binding *Binding, ttl time.Duration, now time.Time) int64 {
	switch {
	case kind == Session:
		return binding.Expires.Add(t.sessionIdle / sessionSlack).UnixMilli()
	case binding.Provisional():
		return binding.Expires.UnixMilli()
	}
	return t.taskCountedUntil(binding.Made, ttl, now)
}

// taskCountedUntil is countedUntil of a task that was bound at made, and is not provisional.
func (t *terms) taskCountedUntil(made int64, ttl time.Duration, now time.Time) int64 {
	if ttl <= 0 || ttl > t.maxTTL {
		ttl = t.maxTTL
	}
	return max(made+ttl.Milliseconds(), now.UnixMilli()+(2*extendBeyond).Milliseconds())
}

// life is how long a binding is kept that is made or told of now. A claim lives as a
// task's binding does.
func (t *terms) life(kind Kind, ttl time.Duration) time.Duration {
	switch {
	case kind == Hint:
		return hintLife
	case kind == Session, kind == Affinity:
		return t.sessionIdle
	case ttl <= 0 || ttl > t.maxTTL-keptAfter:
		return t.maxTTL
	}
	return ttl + keptAfter
}

// handshake is how long a handshake is kept from when it was last prolonged:
// as long as its session may be unused, twice, so that it need not be written each
// time that the session is.
func (t *terms) handshake() time.Duration { return 2 * t.sessionIdle }

// recount says when a task was bound, and how long it counts from now on, and what that changes. What counts no more
// stays so. What an older berth bound is counted from now on.
func (t *terms) recount(current *Binding, seen *Seen) (made, until int64, c counts) {
	made, until = current.Made, current.Until
	if made == 0 {
		made = seen.At.UnixMilli()
	} else if until == 0 {
		return made, until, countsAsBefore
	}
	switch {
	case seen.Given:
		return made, 0, countsNoMore
	case seen.Ended:
		soon := seen.At.Add(collectWithin).UnixMilli()
		if until != 0 && until <= soon {
			return made, until, countsAsBefore
		}
		return made, soon, countsUntil
	}
	counted := t.taskCountedUntil(made, seen.TTL, seen.At)
	if change := counted - until; max(change, -change) <= extendBeyond.Milliseconds() {
		return made, until, countsAsBefore
	}
	return made, counted, countsUntil
}
