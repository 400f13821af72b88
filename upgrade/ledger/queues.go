package ledger

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"berth/upgrade/task"

	"golang.org/x/sync/singleflight"
)

// QueueFresh is how long it counts what was read of a queue. All who wait in one look
// when a place is free, and their clients poll: each of them must not read all the others.
const QueueFresh = 100 * time.Millisecond

// Queues knows who waits where, as the store told a moment ago.
type Queues struct {
	lists   Lists
	reading singleflight.Group

	mu    sync.Mutex // guards the fields below
	read  map[string]queueRead
	given map[string]*givenRounds
}

// givenRounds are the last rounds that this process gave to calls in a line, by caller. They
// count for as long as those need not show in the line.
type givenRounds struct {
	by    map[string]uint64
	since time.Time
	old   map[string]uint64 // those before that
}

// age forgets what counts no more.
func (g *givenRounds) age(now time.Time) {
	switch past := now.Sub(g.since); {
	case past > 2*StoreTime:
		g.by, g.old, g.since = map[string]uint64{}, nil, now
	case past > StoreTime:
		g.by, g.old, g.since = map[string]uint64{}, g.by, now
	}
}

// queueRead is who waits in a queue, the first first.
type queueRead struct {
	waiting []Turn
	at      time.Time
	pruned  int // looks for what has no place in it
}

// pruneFresh bounds how many of those in front are looked at for each reading of a queue.
const pruneFresh = 8

func newQueues(l Lists) *Queues {
	return &Queues{lists: l, read: map[string]queueRead{}, given: map[string]*givenRounds{}}
}

// round gives a caller's call in a line a round after that one, and after those that were
// given out a moment ago.
func (q *Queues) round(line, caller string, after uint64) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	given := q.given[line]
	if given == nil {
		given = &givenRounds{by: map[string]uint64{}}
		q.given[line] = given
	}
	given.age(time.Now())
	round := max(after, given.by[caller], given.old[caller]) + 1
	given.by[caller] = round
	return round
}

// Waiting returns who waits in a queue. The slice is shared.
func (q *Queues) Waiting(ctx context.Context, queue string) ([]Turn, error) {
	if known, ok := q.known(queue); ok {
		return known, nil
	}
	found, err, _ := q.reading.Do(queue, func() (any, error) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), StoreTime)
		defer cancel()
		names, err := q.lists.store.Members(ctx, q.lists.WaitingIn(queue))
		waiting := inTurn(names)
		if err == nil {
			q.keep(queue, queueRead{waiting: waiting, at: began})
		}
		return waiting, err
	})
	if err != nil {
		return nil, err
	}
	return found.([]Turn), nil
}

func (q *Queues) known(queue string) ([]Turn, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	known, ok := q.read[queue]
	return known.waiting, ok && time.Since(known.at) < QueueFresh
}

func (q *Queues) keep(queue string, read queueRead) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.read[queue] = read
}

// changed has a queue, and the lines of it, read anew by the next who asks.
func (q *Queues) changed(queue string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reading.Forget(queue)
	delete(q.read, queue)
	for name := range q.read {
		if strings.HasPrefix(name, queue+task.QueueMark) {
			q.reading.Forget(name)
			delete(q.read, name)
		}
	}
}

// MayPrune reports whether one more of those in front may be looked at.
func (q *Queues) MayPrune(queue string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	read, ok := q.read[queue]
	read.pruned++
	if ok {
		q.read[queue] = read
	}
	return !ok || read.pruned <= pruneFresh
}

// Remove takes a task out of its line that nobody holds.
func (q *Queues) Remove(ctx context.Context, t *task.Task) {
	names, _ := q.lists.store.Members(ctx, q.lists.WaitingIn(t.QueueName())) // what stays is pruned
	for _, name := range names {
		if ReadTurn(name).ID == t.ID {
			q.RemoveAs(ctx, t, name)
		}
	}
}

// RemoveAs takes a name out of the line that task stands in.
func (q *Queues) RemoveAs(ctx context.Context, t *task.Task, name string) {
	q.lists.Remove(ctx, q.lists.WaitingIn(t.QueueName()), name)
	q.changed(t.Terms.Queue)
}

// Position returns where a call stands in its queue, from 1; 0 if it is in none.
func (q *Queues) Position(ctx context.Context, t *task.Task) int {
	waiting, err := q.Waiting(ctx, t.QueueName())
	if err != nil {
		return 0
	}
	return placeOf(waiting, t.ID) + 1
}

// lastRound returns the round of the call that was given a place last in a line, as far as
// that is known.
func (q *Queues) lastRound(ctx context.Context, line string) uint64 {
	record, err := q.lists.store.Get(ctx, turnKey(line))
	if err != nil {
		return 0
	}
	round, _ := strconv.ParseUint(string(record.Value), 10, 64)
	return round
}

// NoteRound notes that a call was given its place.
func (q *Queues) NoteRound(ctx context.Context, line string, taken Turn, life time.Duration) {
	if taken.Round > 0 {
		_ = q.lists.store.Put(ctx, turnKey(line), strconv.AppendUint(nil, taken.Round, 10), max(life, time.Second)) // lost, the next call has a round sooner
	}
}

// PlacesOf begins the names of the places that a holder takes for a task. No two are
// named alike: what is given back late must not be what was taken since.
func PlacesOf(id, holder string) string { return id + " " + holder + " " }

// FreeSlot gives a place back, as soon as the store takes it.
func (l *Ledger) FreeSlot(ctx context.Context, list, name string) {
	l.Backlog.Do(ctx, func(ctx context.Context) error { return l.Store.RemoveMember(ctx, list, name) })
}
