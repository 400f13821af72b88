package queues

import (
	"context"
	"strings"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/internal/timed"
	"berth/upgrade/task"

	"golang.org/x/sync/singleflight"
)

const (
	// Fresh is how long it counts what was read of a queue. All who wait in one look
	// when a place is free, and their clients poll: each of them must not read all the others.
	Fresh = 100 * time.Millisecond

	// aloneFresh is Fresh where no other process comes or goes.
	aloneFresh = time.Second

	// freshPerName is how long it counts at least for each that was read, whatever others have
	// changed since: so no more than 50,000 are read in a second, however many wait.
	freshPerName = 20 * time.Microsecond

	// remembered is how long a line is known at least that nobody reads: longer than what was read of one, or given out there, counts.
	remembered = time.Minute

	// prunedPerReading bounds how many of those in front are looked at for each reading of a queue.
	prunedPerReading = 8
)

// Store is what is asked of a *storage.Store.
type Store interface {
	storage.Engine
	Shared() bool
}

// Queues knows who waits where, as the store told a moment ago, and as this process has changed it
// since.
type Queues struct {
	store   Store
	within  time.Duration // bounds one reading
	reading singleflight.Group

	mu      sync.Mutex // guards the fields below
	read    map[string]*queueRead
	given   map[string]*givenRounds
	waiting map[string]*Waits // in this process
	swept   time.Time         // when lines were forgotten last that nobody asks for any more
}

// queueRead is a line as it was read.
type queueRead struct {
	*line
	size    int // when it was read
	at      time.Time
	changed bool            // by others, since
	pruned  int             // looks for what has no place in it
	since   []func(l *line) // what this process changes while another reading is under way; else nil
}

// fresh is how long it counts from when it was asked for.
func (r *queueRead) fresh(shared bool) time.Duration {
	least := time.Duration(r.size) * freshPerName
	switch {
	case !shared:
		return max(least, aloneFresh)
	case r.changed:
		return least
	}
	return max(least, Fresh)
}

// New returns what is known of the queues in a store, of which one reading, and whatever makes a line longer, ends within that time.
func New(s Store, within time.Duration) *Queues {
	return &Queues{store: s, within: within, read: map[string]*queueRead{}, given: map[string]*givenRounds{}, waiting: map[string]*Waits{}}
}

// WaitingIn lists in the store the calls that wait in a queue, by the names that turnOf gives.
func WaitingIn(queue string) string { return "upgrade:queue:" + queue }

// Waiting returns who waits in a queue.
func (q *Queues) Waiting(ctx context.Context, queue string) (turns []Turn, err error) {
	if err := q.look(ctx, queue); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, s := range q.lineOf(queue).order.From(0) {
		turns = append(turns, s.Turn)
	}
	return turns, nil
}

// look sees to it that what is known of a queue counts.
func (q *Queues) look(ctx context.Context, queue string) error {
	if q.known(queue) {
		return nil
	}
	_, err, _ := q.reading.Do(queue, func() (any, error) {
		began := time.Now()
		ctx, cancel := timed.Within(context.WithoutCancel(ctx), q.within)
		defer cancel()
		q.begin(queue)
		names, err := q.store.Members(ctx, WaitingIn(queue))
		if err != nil {
			q.giveUp(queue)
			return nil, err
		}
		q.keep(queue, newLine(names), began)
		return nil, nil
	})
	return err
}

func (q *Queues) known(queue string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	read := q.read[queue]
	return read != nil && read.line != nil && time.Since(read.at) < read.fresh(q.store.Shared())
}

// doubt has a queue be read anew by the next who looks.
func (q *Queues) doubt(queue string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if read := q.read[queue]; read != nil {
		read.changed = true
	}
}

// begin notes that a queue is being read: what this process changes from now on, the reading may
// have or not.
func (q *Queues) begin(queue string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sweep(time.Now())
	read := q.read[queue]
	if read == nil {
		read = &queueRead{}
		q.read[queue] = read
	}
	read.since, read.changed = []func(*line){}, false
}

// sweep forgets, now and then, lines in which nobody here waits, and that were not read for a while: those of sessions come and go with
// instances. The caller has the lock.
func (q *Queues) sweep(now time.Time) {
	if now.Sub(q.swept) < remembered {
		return
	}
	q.swept = now
	for name, read := range q.read {
		if q.waiting[name] == nil && read.since == nil && now.Sub(read.at) >= remembered+time.Duration(read.size)*freshPerName {
			delete(q.read, name)
		}
	}
	for line, given := range q.given {
		if now.Sub(given.since) >= remembered {
			delete(q.given, line)
		}
	}
}

func (q *Queues) giveUp(queue string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.read[queue].since, q.read[queue].changed = nil, true
}

// keep takes what was read then.
func (q *Queues) keep(queue string, l *line, at time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := q.read[queue]
	for _, change := range before.since {
		change(l)
	}
	q.read[queue] = &queueRead{line: l, size: l.order.Len(), at: at, changed: before.changed}
	q.wakeOutOfPlace(queue, l)
}

// lineOf is what is known of a queue. The caller has the lock.
func (q *Queues) lineOf(queue string) *line {
	if read := q.read[queue]; read != nil && read.line != nil {
		return read.line
	}
	return newLine(nil)
}

// change notes what this process has changed in a line at the store, and returns how many wait there.
func (q *Queues) change(queue string, change func(l *line)) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	read := q.read[queue]
	if read == nil {
		return 0
	}
	if read.since != nil {
		read.since = append(read.since, change)
	}
	if read.line == nil {
		return 0
	}
	change(read.line)
	read.changed = true // rounds are given by what others have, too
	return read.order.Len()
}

// Changed has a queue, and the lines of it, read anew by the next who asks: another process has changed it.
func (q *Queues) Changed(queue string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for name, read := range q.read {
		if name == queue || strings.HasPrefix(name, queue+task.QueueMark) {
			read.changed = true
		}
	}
}

// find returns where a task stands in a line, as far as that is known; at is -1 if it does not.
func (q *Queues) find(queue, id string) (turn Turn, at int, doubled bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.lineOf(queue)
	turn, at = l.find(id)
	return turn, at, l.doubled(id)
}

// ToPrune returns one of those in front, the next with each call, which may be there no more; not
// ok once there were enough for one reading.
func (q *Queues) ToPrune(queue string) (front Turn, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	read := q.read[queue]
	if read == nil || read.line == nil || read.pruned >= min(prunedPerReading, read.order.Len()) {
		return Turn{}, false
	}
	front = read.order.At(read.pruned).Turn
	read.pruned++
	return front, true
}

// Remove takes a task out of its line that nobody holds.
func (q *Queues) Remove(ctx context.Context, t *task.Task) {
	names, _ := q.store.Members(ctx, WaitingIn(t.QueueName())) // what stays is pruned
	for _, name := range names {
		if ReadTurn(name).ID == t.ID {
			_ = q.RemoveAs(ctx, t, name)
		}
	}
}

// RemoveAs takes a name out of the line that task stands in.
func (q *Queues) RemoveAs(ctx context.Context, t *task.Task, name string) error {
	queue := t.QueueName()
	err := q.store.RemoveMember(ctx, WaitingIn(queue), name)
	q.change(queue, func(l *line) { l.leave(name) })
	return err
}

// Position returns where a call stands in its queue, from 1; 0 if it is in none.
func (q *Queues) Position(ctx context.Context, t *task.Task) int {
	if q.look(ctx, t.QueueName()) != nil {
		return 0
	}
	_, at, _ := q.find(t.QueueName(), t.ID)
	return at + 1
}
