package ledger

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/upgrade/task"
)

// Turn is the place of a call in a line. Callers take turns: in each round one call of each
// is given a place, those first that came first. Which round a call has is settled when it
// queues and stands in its name there, so that all berths see one order, and nobody who comes
// later changes it but by taking a turn of his own.
//
// A newcomer's round is the one after that of the call which was given a place last, and
// after those of all calls of the same caller: so each of another caller's calls that wait
// has at most one of his before it, and whoever waits has a finite number of turns before
// his own, however many callers come.
type Turn struct {
	ID     string // of the task
	Caller string // digest; "" in a name of a berth before 0.5.0, which bears the id alone
	Round  uint64
	Name   string // in the line
}

func turnOf(id, caller string, round uint64) Turn {
	return Turn{id, caller, round, fmt.Sprintf("%s %s %d", id, caller, round)}
}

// ReadTurn reads a name in a line. One without a round has 0.
func ReadTurn(name string) Turn {
	id, rest, _ := strings.Cut(name, " ")
	caller, number, _ := strings.Cut(rest, " ")
	round, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return Turn{ID: id, Name: name}
	}
	return Turn{id, caller, round, name}
}

// inTurn returns who waits in a line in the order of their turns, given their names in the
// order of their arrival. Those without a round take turns as one caller who is there from
// the first round on.
func inTurn(names []string) []Turn {
	line := make([]Turn, len(names))
	first := uint64(0)
	for i, name := range names {
		line[i] = ReadTurn(name)
		if r := line[i].Round; r > 0 && (first == 0 || r < first) {
			first = r
		}
	}
	next := max(first, 1)
	for i := range line {
		if line[i].Round == 0 {
			line[i].Round = next
			next++
		}
	}
	slices.SortStableFunc(line, func(a, b Turn) int { return compareRounds(a.Round, b.Round) })
	return line
}

func compareRounds(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// placeOf returns where a task stands in a line, from 0; -1 if it does not.
func placeOf(line []Turn, id string) int {
	return slices.IndexFunc(line, func(w Turn) bool { return w.ID == id })
}

// doubled reports whether another call of the same caller has the round of the one at that
// place, and comes before it: two berths gave it out at once.
func doubled(line []Turn, at int) bool {
	own := line[at]
	return own.Caller != "" && slices.ContainsFunc(line[:at], func(w Turn) bool { return w.Caller == own.Caller && w.Round == own.Round })
}

// turnKey names the record of the round that was given a place last.
func turnKey(line string) string { return "upgrade:turn:" + line }

// Stand has a task stand in its line for life, behind those of its caller, and returns the line
// with it and its place there. own is the turn that it had before, if it had one.
func (q *Queues) Stand(ctx context.Context, t *task.Task, own Turn, line []Turn, life time.Duration) (with []Turn, at int) {
	name := t.QueueName()
	switch at = placeOf(line, t.ID); {
	case at >= 0 && !doubled(line, at):
		return line, at
	case at >= 0: // it leaves its place for one of a later round
		q.lists.Remove(ctx, q.lists.WaitingIn(name), line[at].Name)
		own, line = Turn{}, slices.Delete(slices.Clone(line), at, at+1)
	} // else it is its first look, or an outage has lost the entry
	if own.Name == "" {
		own = turnOf(t.ID, t.Caller, q.nextRound(ctx, t, line))
	}
	_ = q.lists.Add(ctx, q.lists.WaitingIn(name), own.Name, life, 0)
	q.changed(t.Terms.Queue)
	with = insert(line, own)
	return with, placeOf(with, t.ID)
}

// nextRound gives a task that comes to a line its round there.
func (q *Queues) nextRound(ctx context.Context, t *task.Task, line []Turn) uint64 {
	name := t.QueueName()
	after := q.lastRound(ctx, name)
	for i, w := range line {
		if i == 0 {
			after = max(after, w.Round-1)
		}
		if w.Caller == t.Caller {
			after = max(after, w.Round)
		}
	}
	return q.round(name, t.Caller, after)
}

// insert returns a line with one more who has come last.
func insert(line []Turn, last Turn) []Turn {
	at := slices.IndexFunc(line, func(w Turn) bool { return w.Round > last.Round })
	if at < 0 {
		at = len(line)
	}
	return slices.Insert(slices.Clone(line), at, last)
}
