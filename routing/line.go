package routing

import "slices"

// line is a queue in which callers take turns: the one who waits a thousand times comes no
// sooner than the one who waits once. The zero value is not ready; it has no lock of its own.
type line[W comparable] struct {
	waiting map[string][]W
	order   []string // callers that wait, the next one first
	n       int      // who wait, in all
}

func newLine[W comparable]() line[W] { return line[W]{waiting: map[string][]W{}} }

// join has one wait for caller.
func (l *line[W]) join(caller string, one W) {
	if len(l.waiting[caller]) == 0 {
		l.order = append(l.order, caller)
	}
	l.waiting[caller] = append(l.waiting[caller], one)
	l.n++
}

// first is who waits first for the i-th caller in the order.
func (l *line[W]) first(i int) (caller string, one W) {
	caller = l.order[i]
	return caller, l.waiting[caller][0]
}

// take takes the first of the i-th caller out, who is the last in the order from then on.
func (l *line[W]) take(i int) {
	caller := l.order[i]
	l.order = append(slices.Delete(l.order, i, i+1), caller)
	l.leave(caller, 0)
}

// withdraw takes out one who waits for caller, unless he waits no more.
func (l *line[W]) withdraw(caller string, one W) bool {
	i := slices.Index(l.waiting[caller], one)
	if i < 0 {
		return false
	}
	l.leave(caller, i)
	return true
}

// leave takes out the i-th who waits for caller, and the caller with the last.
func (l *line[W]) leave(caller string, i int) {
	l.n--
	l.waiting[caller] = slices.Delete(l.waiting[caller], i, i+1)
	if len(l.waiting[caller]) > 0 {
		return
	}
	delete(l.waiting, caller)
	l.order = slices.DeleteFunc(l.order, func(c string) bool { return c == caller })
}

// longest is the caller who waits most often, and how often.
func (l *line[W]) longest() (caller string, n int) {
	for _, c := range l.order {
		if len(l.waiting[c]) > n {
			caller, n = c, len(l.waiting[c])
		}
	}
	return caller, n
}

// last is who waits last for caller.
func (l *line[W]) last(caller string) W {
	of := l.waiting[caller]
	return of[len(of)-1]
}
