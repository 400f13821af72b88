package queues

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/upgrade/task"
)

// calledBehind is how many are called at a time where all who wait in this process stand behind all
// places: they see to what stands in front and is gone.
const calledBehind = 4

// Waits are those in this process who wait in one line. They are called to look for a place one
// after the other, the first first, as long as there are places: nobody looks whose turn is far off, and
// one finds out for all behind it that there is none.
type Waits struct {
	// Over is closed when nobody waits any more.
	Over chan struct{}

	q    *Queues
	line string
	// What follows is guarded by the lock of q.
	by     map[string]*waiter // by task
	calls  uint64             // how often they were called
	full   uint64             // the last call in which all places were found taken
	pruned time.Time          // when places were looked at that nobody gives back

	elsewhere map[string]time.Time // when calls that other processes hold were seen last that can go to one upstream alone, by task
}

type waiter struct {
	woken  chan struct{}
	slots  int
	passed uint64 // the last call in which it has had its turn
	aside  uint64 // the last call in which it found its own upstream's places taken, and can go to no other
}

// wake wakes it up, unless a wake-up waits there already.
func (w *waiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// Await has a task's call that comes to a line be called, of a queue that has so many slots at an
// upstream, until Leave. first says that it is the only one: its caller is to see to it that
// Call is called as long as Over is not closed.
func (q *Queues) Await(line, id string, slots int) (w *Waits, woken <-chan struct{}, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w = q.waiting[line]
	if w == nil {
		w = &Waits{Over: make(chan struct{}), q: q, line: line, by: map[string]*waiter{}, calls: 1, elsewhere: map[string]time.Time{}}
		q.waiting[line] = w
	}
	one := &waiter{woken: make(chan struct{}, 1), slots: slots}
	w.by[id] = one
	return w, one.woken, len(w.by) == 1
}

// Leave ends what Await began. If it was its turn, it is the next one's.
func (w *Waits) Leave(id string, upstreams int) {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	delete(w.by, id)
	if len(w.by) == 0 {
		close(w.Over)
		delete(w.q.waiting, w.line)
		return
	}
	w.next(upstreams)
}

// Awaited returns the queues in which calls of this process wait, in order.
func (q *Queues) Awaited() (names []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for line := range q.waiting {
		name, _, _ := strings.Cut(line, task.QueueMark)
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Call has those of w look for a place whose turn it is, if each may go to so many upstreams. It returns when it
// is to be called again though nobody tells anything: what it went by has changed, and is not to be
// read sooner. 0: it need not.
func (w *Waits) Call(ctx context.Context, upstreams int) (again time.Duration) {
	q := w.q
	if q.look(ctx, w.line) != nil {
		return 0
	}
	w.call(upstreams)
	q.mu.Lock()
	defer q.mu.Unlock()
	if read := q.read[w.line]; read.changed && q.store.Shared() {
		again = max(read.fresh(true)-time.Since(read.at), time.Millisecond)
	}
	return again
}

func (w *Waits) call(upstreams int) {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	w.calls++
	w.next(upstreams)
}

// next wakes up the first that has not had its turn since the last call; several of those that stand
// behind all places. The caller has the lock.
func (w *Waits) next(upstreams int) {
	called, seen := 0, 0
	for at, s := range w.q.lineOf(w.line).order.From(0) {
		if called == calledBehind || seen == len(w.by) {
			return
		}
		one := w.by[s.ID]
		if one == nil {
			continue
		}
		seen++
		if one.passed == w.calls {
			continue
		}
		one.wake()
		if called++; at < one.slots*upstreams {
			return
		}
	}
}

// wakeOutOfPlace wakes up those who do not stand in the line as it is now, or not where they may.
// The caller has the lock.
func (q *Queues) wakeOutOfPlace(queue string, l *line) {
	if w := q.waiting[queue]; w != nil {
		for id, one := range w.by {
			if l.of[id] == nil || l.doubled(id) {
				one.wake()
			}
		}
	}
}

// Full reports whether one of w has found all places taken since those who wait were called last:
// nothing has become free of which anybody here knows. call is to be given to Found.
func (w *Waits) Full() (call uint64, full bool) {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	return w.calls, w.full == w.calls
}

// Found notes that one of w has found all places taken, in that call.
func (w *Waits) Found(call uint64) {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	w.full = max(w.full, call)
}

// IsToPrune reports whether the first in the line, who has found no place, is to look for some that nobody gives back.
func (w *Waits) IsToPrune() bool {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	prune := time.Since(w.pruned) >= pruneEvery
	if prune {
		w.pruned = time.Now()
	}
	return prune
}

// pruneEvery is how often places are looked at, in one line, that may be nobody's.
const pruneEvery = time.Second

// mostAside bounds how many of a line can go to one upstream alone, and hold up nobody else while that has no place: each of them looks
// for one with each call.
const mostAside = 32

// IsFarBehind reports whether so many stand before a place in the line as there are places in all. Those who stand aside do not count.
func (w *Waits) IsFarBehind(at, places int) bool {
	if at < places {
		return false
	}
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	before, aside := 0, 0
	for i, s := range w.q.lineOf(w.line).order.From(0) {
		if i == at || before == places {
			break
		}
		if aside < mostAside && w.standsAside(s.ID) {
			aside++
		} else {
			before++
		}
	}
	return before == places
}

// asideFor is how long it counts that a call which another process holds can go to one upstream alone: it is looked at again by then.
const asideFor = time.Minute

// standsAside reports whether a call holds up nobody else. The caller has the lock.
func (w *Waits) standsAside(id string) bool {
	if one := w.by[id]; one != nil {
		return one.aside == w.calls
	}
	seen, ok := w.elsewhere[id]
	return ok && time.Since(seen) < asideFor
}

// StandAside notes that a call which another process holds can go to one upstream alone.
func (w *Waits) StandAside(id string) {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	if len(w.elsewhere) >= mostAside {
		maps.DeleteFunc(w.elsewhere, func(_ string, seen time.Time) bool { return time.Since(seen) >= asideFor })
	}
	if len(w.elsewhere) < mostAside {
		w.elsewhere[id] = time.Now()
	}
}

// Pass has the next one of w look for a place: this task's cannot go where there may be some. aside says that it can go to one upstream
// alone.
func (w *Waits) Pass(id string, upstreams int, aside bool) {
	w.q.mu.Lock()
	defer w.q.mu.Unlock()
	if one := w.by[id]; one != nil {
		one.passed = w.calls
		if aside {
			one.aside = w.calls
		}
	}
	w.next(upstreams)
}
