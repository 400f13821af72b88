package sticky

import (
	"log/slog"

	"berth/sticky/near"
)

// local is what this process knows by itself: what was read or written last, and what the store has not taken yet.
type local struct {
	near    *near.Cache
	pending pending
	log     *slog.Logger
}

// add has the cache hold e.
func (l *local) add(e *entry) { l.near.Put(&e.key, &e.binding, nil) }

// refresh is add, unless another owner stands there by now, as a session was moved meanwhile, or what was given the id since.
func (l *local) refresh(e *entry) {
	l.near.Put(&e.key, &e.binding, func(have Binding) bool {
		return e.agrees(have) && have.Made <= e.binding.Made || have.YieldsTo(e.binding)
	})
}

// bind keeps a binding that the store could not take, because of cause, unless another owner is known here.
func (l *local) bind(e entry, cause error) (outcome string, err error) {
	if have, ok := l.near.Get(e.key); ok && !have.YieldsTo(e.binding) && have.Upstream != e.binding.Upstream {
		return outcomeCollision, ErrOwned
	}
	if !l.pending.add(e) {
		return outcomeCollision, ErrOwned
	}
	l.add(&e)
	l.log.Debug("bound locally, the store is away", "kind", string(e.key.Kind), "error", cause)
	return outcomeLocal, nil
}

// collides reports whether what is pending keeps e from being bound.
func (l *local) collides(e *entry) bool {
	if l.pending.len() == 0 {
		return false
	}
	have, ok := l.pending.get(e.key)
	return ok && !have.YieldsTo(e.binding) && have.Upstream != e.binding.Upstream
}

// rebind puts e in the place of what is pending, if that is something that e may replace.
func (l *local) rebind(e entry, may func(have Binding) bool) bool {
	if !l.pending.swap(e.key, may, &e) {
		return false
	}
	l.add(&e)
	return true
}

// stored takes in that the store has e.
func (l *local) stored(e *entry) {
	l.pending.remove(e.key)
	l.add(e)
}

func (l *local) forget(key Key) {
	l.pending.remove(key)
	l.near.Remove(key)
}

// forgetAs is forget of what is bound as was says. stands says that something else is pending.
func (l *local) forgetAs(was *entry) (stands bool) {
	if have, ok := l.near.Get(was.key); ok && !was.isSucceededBy(have) {
		l.near.Remove(was.key)
	}
	dropped := l.pending.swap(was.key, func(have Binding) bool { return !was.isSucceededBy(have) }, nil)
	_, waits := l.pending.get(was.key)
	return waits && !dropped
}
