package upgrade

import (
	"context"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// queueFresh is how long it counts what was read of a queue. All who wait in one look
// when a place is free, and their clients poll: each of them must not read all the others.
const queueFresh = 100 * time.Millisecond

// queues knows who waits where, as the store told a moment ago.
type queues struct {
	lists   lists
	reading singleflight.Group

	mu   sync.Mutex // guards the field below
	read map[string]queueRead
}

// queueRead is who waits in a queue, the first first.
type queueRead struct {
	waiting []string
	at      time.Time
	weeded  int // looks for what has no place in it
}

// weedFresh bounds how many of those in front are looked at for each reading of a queue.
const weedFresh = 8

func newQueues(l lists) *queues { return &queues{lists: l, read: map[string]queueRead{}} }

// waiting returns who waits in a queue. The slice is shared.
func (q *queues) waiting(ctx context.Context, queue string) ([]string, error) {
	if known, ok := q.known(queue); ok {
		return known, nil
	}
	found, err, _ := q.reading.Do(queue, func() (any, error) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
		defer cancel()
		waiting, err := q.lists.store.Members(ctx, q.lists.waitingIn(queue))
		if err == nil {
			q.keep(queue, queueRead{waiting: waiting, at: began})
		}
		return waiting, err
	})
	if err != nil {
		return nil, err
	}
	return found.([]string), nil
}

func (q *queues) known(queue string) ([]string, bool) {
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
		if strings.HasPrefix(name, queue+lineMark) {
			q.reading.Forget(name)
			delete(q.read, name)
		}
	}
}

// mayWeed reports whether one more of those in front may be looked at.
func (q *queues) mayWeed(queue string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	read, ok := q.read[queue]
	read.weeded++
	if ok {
		q.read[queue] = read
	}
	return !ok || read.weeded <= weedFresh
}
