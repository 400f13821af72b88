package queues

import (
	"cmp"
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
	slices.SortStableFunc(line, func(a, b Turn) int { return cmp.Compare(a.Round, b.Round) })
	return line
}

// Stand has a task stand in its line for life, behind those of its caller, and returns its turn,
// and how many come before it. own is the turn that it had before, if it had one. It fails while
// nobody can say who waits; the turn is the one that the task has then.
func (q *Queues) Stand(ctx context.Context, t *task.Task, own Turn, life time.Duration) (turn Turn, at int, err error) {
	name := t.QueueName()
	if q.known(name) {
		if stands, at, doubled := q.find(name, t.ID); at >= 0 && !doubled {
			return stands, at, nil
		}
	}
	q.doubt(name) // others may have come by now, and rounds are given by who is there
	if err := q.look(ctx, name); err != nil {
		return own, 0, err
	}
	stands, at, doubled := q.find(name, t.ID)
	switch {
	case at >= 0 && !doubled:
		return stands, at, nil
	case at >= 0: // it leaves its place for one of a later round
		if err := q.RemoveAs(ctx, t, stands.Name); err != nil {
			return stands, 0, err // with two names it would leave one of them behind
		}
		own = Turn{}
	} // else it is its first look, or an outage has lost the entry
	if own.Name == "" {
		own = turnOf(t.ID, t.Caller, q.nextRound(ctx, t))
	}
	_ = q.store.AddMember(ctx, WaitingIn(name), own.Name, max(life, time.Second), 0) // never an endless one
	at = q.change(name, func(l *line) { l.join(own) })
	if _, stands, _ := q.find(name, t.ID); stands >= 0 {
		at = stands
	}
	return own, at, nil
}
