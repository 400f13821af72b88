package sticky

import "log/slog"

// local is what this process knows by itself: what was read or written last, and what the store has not taken yet.
type local struct {
	near    *near
	pending pending
	log     *slog.Logger
}

// bind keeps a binding that the store could not take, because of cause, unless another owner is known here.
func (l *local) bind(e entry, cause error) (outcome string, err error) {
	if have, ok := l.near.get(e.key); ok && !have.yieldsTo(e.binding) && have.Upstream != e.binding.Upstream {
		return outcomeCollision, ErrOwned
	}
	if !l.pending.add(e) {
		return outcomeCollision, ErrOwned
	}
	l.near.add(&e)
	l.log.Debug("bound locally, the store is away", "kind", string(e.key.Kind), "error", cause)
	return outcomeLocal, nil
}

// collides reports whether what is pending keeps e from being bound.
func (l *local) collides(e *entry) bool {
	if l.pending.len() == 0 {
		return false
	}
	have, ok := l.pending.get(e.key)
	return ok && !have.yieldsTo(e.binding) && have.Upstream != e.binding.Upstream
}

// rebind puts e in the place of what is pending, if that is something that e may replace.
func (l *local) rebind(e entry, may func(have Binding) bool) bool {
	if !l.pending.swap(e.key, may, &e) {
		return false
	}
	l.near.add(&e)
	return true
}

// stored takes in that the store has e.
func (l *local) stored(e *entry) {
	l.pending.remove(e.key)
	l.near.add(e)
}

func (l *local) forget(key Key) {
	l.pending.remove(key)
	l.near.remove(key)
}
