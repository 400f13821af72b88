package upgrade

import "berth/upgrade/task"

// withheldSpare is how long after the time that is given for it a task is still taken for
// withheld of which nothing else is heard: the steps of its creation come before that time,
// and those by which it is forgotten after it.
const withheldSpare = 2 * storeTime

// Withholds reports whether the client of a task may yet get something else in its place:
// then nobody else is to be told of it, for it may be gone in a moment. Who has its id has
// it from the handle, and need not ask.
func (l *Ledger) Withholds(t *task.Task) bool {
	return !t.Withheld.IsZero() && l.clock.now().Before(t.Withheld)
}
