package upgrade

import (
	"context"
	"strings"
	"sync"
	"time"

	"berth/upgrade/task"

	"golang.org/x/sync/singleflight"
)

// queueFresh is how long it counts what was read of a queue. All who wait in one look
// when a place is free, and their clients poll: each of them must not read all the others.
const queueFresh = 100 * time.Millisecond

// queues knows who waits where, as the store told a moment ago.
type queues struct {
	lists   lists
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
	case past > 2*storeTime:
		g.by, g.old, g.since = map[string]uint64{}, nil, now
	case past > storeTime:
		g.by, g.old, g.since = map[string]uint64{}, g.by, now
	}
}

// queueRead is who waits in a queue, the first first.
type queueRead struct {
	waiting []turn
	at      time.Time
	pruned  int // looks for what has no place in it
}

// pruneFresh bounds how many of those in front are looked at for each reading of a queue.
const pruneFresh = 8

func newQueues(l lists) *queues {
	return &queues{lists: l, read: map[string]queueRead{}, given: map[string]*givenRounds{}}
}

// round gives a caller's call in a line a round after that one, and after those that were
// given out a moment ago.
func (q *queues) round(line, caller string, after uint64) uint64 {
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

// waiting returns who waits in a queue. The slice is shared.
func (q *queues) waiting(ctx context.Context, queue string) ([]turn, error) {
	if known, ok := q.known(queue); ok {
		return known, nil
	}
	found, err, _ := q.reading.Do(queue, func() (any, error) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
		defer cancel()
		names, err := q.lists.store.Members(ctx, q.lists.waitingIn(queue))
		waiting := inTurn(names)
		if err == nil {
			q.keep(queue, queueRead{waiting: waiting, at: began})
		}
		return waiting, err
	})
	if err != nil {
		return nil, err
	}
	return found.([]turn), nil
}

func (q *queues) known(queue string) ([]turn, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	known, ok := q.read[queue]
	return known.waiting, ok && time.Since(known.at) < queueFresh
}

func (q *queues) keep(queue string, read queueRead) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.read[queue] = read
}

// changed has a queue, and the lines of it, read anew by the next who asks.
func (q *queues) changed(queue string) {
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

// mayPrune reports whether one more of those in front may be looked at.
func (q *queues) mayPrune(queue string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	read, ok := q.read[queue]
	read.pruned++
	if ok {
		q.read[queue] = read
	}
	return !ok || read.pruned <= pruneFresh
}
