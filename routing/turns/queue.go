// Package turns has callers take turns where there is not enough for all: the one who waits with a thousand requests gets
// no more than the one who waits with one. A Queue is who waits; Turns let a few do something at once.
package turns

import "slices"

// Queue is where callers take turns: the one who waits a thousand times comes no
// sooner than the one who waits once. It begins with NewQueue, and has no lock of its own.
type Queue[W comparable] struct {
	waiting map[string][]W
	order   []string // callers that wait, the next one first
	n       int      // who wait, in all
}

// NewQueue returns one in which nobody waits.
func NewQueue[W comparable]() Queue[W] { return Queue[W]{waiting: map[string][]W{}} }

// Len is how many wait, in all.
func (l *Queue[W]) Len() int { return l.n }

// Callers are those that wait, the next one first. They must not be changed, nor kept while the queue changes.
func (l *Queue[W]) Callers() []string { return l.order }

// Waiting is how many wait for caller.
func (l *Queue[W]) Waiting(caller string) int { return len(l.waiting[caller]) }

// Join has one wait for caller.
func (l *Queue[W]) Join(caller string, one W) {
	if len(l.waiting[caller]) == 0 {
		l.order = append(l.order, caller)
	}
	l.waiting[caller] = append(l.waiting[caller], one)
	l.n++
}

// First is who waits first for the i-th caller in the order.
func (l *Queue[W]) First(i int) (caller string, one W) {
	caller = l.order[i]
	return caller, l.waiting[caller][0]
}

// Take takes the first of the i-th caller out, who is the last in the order from then on.
func (l *Queue[W]) Take(i int) {
	caller := l.order[i]
	l.order = append(slices.Delete(l.order, i, i+1), caller)
	l.leave(caller, 0)
}

// Withdraw takes out one who waits for caller, unless he waits no more.
func (l *Queue[W]) Withdraw(caller string, one W) bool {
	i := slices.Index(l.waiting[caller], one)
	if i < 0 {
		return false
	}
	l.leave(caller, i)
	return true
}

// leave takes out the i-th who waits for caller, and the caller with the last.
func (l *Queue[W]) leave(caller string, i int) {
	l.n--
	l.waiting[caller] = slices.Delete(l.waiting[caller], i, i+1)
	if len(l.waiting[caller]) > 0 {
		return
	}
	delete(l.waiting, caller)
	l.order = slices.DeleteFunc(l.order, func(c string) bool { return c == caller })
}

// Longest is the caller who waits most often, and how often.
func (l *Queue[W]) Longest() (caller string, n int) {
	for _, c := range l.order {
		if len(l.waiting[c]) > n {
			caller, n = c, len(l.waiting[c])
		}
	}
	return caller, n
}

// Last is who waits last for caller.
func (l *Queue[W]) Last(caller string) W {
	of := l.waiting[caller]
	return of[len(of)-1]
}
