package queues

import (
	"context"
	"strconv"
	"time"

	"berth/upgrade/task"
)

// givenRounds are the last rounds that this process gave to calls in a line, by caller. They
// count for as long as those need not show in the line.
type givenRounds struct {
	by    map[string]uint64
	since time.Time
	old   map[string]uint64 // those before that
}

// age forgets what counts no more: what has been given out for longer than it takes to show.
func (g *givenRounds) age(now time.Time, shows time.Duration) {
	switch past := now.Sub(g.since); {
	case past > 2*shows:
		g.by, g.old, g.since = map[string]uint64{}, nil, now
	case past > shows:
		g.by, g.old, g.since = map[string]uint64{}, g.by, now
	}
}

// nextRound gives a task that comes to a line its round there.
func (q *Queues) nextRound(ctx context.Context, t *task.Task) uint64 {
	name := t.QueueName()
	return q.round(name, t.Caller, max(q.lastRound(ctx, name), q.last(name, t.Caller)))
}

func (q *Queues) last(queue, caller string) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lineOf(queue).last(caller)
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
	given.age(time.Now(), q.within)
	round := max(after, given.by[caller], given.old[caller]) + 1
	given.by[caller] = round
	return round
}

// turnKey names the record of the round that was given a place last.
func turnKey(line string) string { return "upgrade:turn:" + line }

// lastRound returns the round of the call that was given a place last in a line, as far as
// that is known.
func (q *Queues) lastRound(ctx context.Context, line string) uint64 {
	record, err := q.store.Get(ctx, turnKey(line))
	if err != nil {
		return 0
	}
	round, _ := strconv.ParseUint(string(record.Value), 10, 64)
	return round
}

// NoteRound notes that a call was given its place.
func (q *Queues) NoteRound(ctx context.Context, line string, taken Turn, life time.Duration) {
	if taken.Round > 0 {
		_ = q.store.Put(ctx, turnKey(line), strconv.AppendUint(nil, taken.Round, 10), max(life, time.Second)) // lost, the next call has a round sooner
	}
}
