package upgrade

import "time"

// withheldSpare is how long after the time that is given for it a task is still taken for
// withheld of which nothing else is heard: the steps of its creation come before that time,
// and those by which it is forgotten after it.
const withheldSpare = 2 * storeTime

// withhold has nobody be told of a new task, from its record on, before its client has the
// handle. Only who makes the same call again, or lists what a principal has made, could
// come upon it.
func (t *Task) withhold(d time.Duration) {
	if d > 0 && (t.Once != (Once{}) || t.Principal != "") {
		t.Withheld = t.Created.Add(d + withheldSpare)
	}
}

// Withholds reports whether the client of a task may yet get something else in its place:
// then nobody else is to be told of it, for it may be gone in a moment. Who has its id has
// it from the handle, and need not ask.
func (l *Ledger) Withholds(task *Task) bool {
	return !task.Withheld.IsZero() && l.clock.now().Before(task.Withheld)
}
