package upgrade

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/upgrade/task"
)

// turn is the place of a call in a line. Callers take turns: in each round one call of each
// is given a place, those first that came first. Which round a call has is settled when it
// queues and stands in its name there, so that all berths see one order, and nobody who comes
// later changes it but by taking a turn of his own.
//
// A newcomer's round is the one after that of the call which was given a place last, and
// after those of all calls of the same caller: so each of another caller's calls that wait
// has at most one of his before it, and whoever waits has a finite number of turns before
// his own, however many callers come.
type turn struct {
	id     string // of the task
	caller string // digest; "" in a name of a berth before 0.5.0, which bears the id alone
	round  uint64
	name   string // in the line
}

func turnOf(id, caller string, round uint64) turn {
	return turn{id, caller, round, fmt.Sprintf("%s %s %d", id, caller, round)}
}

// readTurn reads a name in a line. One without a round has 0.
func readTurn(name string) turn {
	id, rest, _ := strings.Cut(name, " ")
	caller, number, _ := strings.Cut(rest, " ")
	round, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return turn{id: id, name: name}
	}
	return turn{id, caller, round, name}
}

// inTurn returns who waits in a line in the order of their turns, given their names in the
// order of their arrival. Those without a round take turns as one caller who is there from
// the first round on.
func inTurn(names []string) []turn {
	line := make([]turn, len(names))
	first := uint64(0)
	for i, name := range names {
		line[i] = readTurn(name)
		if r := line[i].round; r > 0 && (first == 0 || r < first) {
			first = r
		}
	}
	next := max(first, 1)
	for i := range line {
		if line[i].round == 0 {
			line[i].round = next
			next++
		}
	}
	slices.SortStableFunc(line, func(a, b turn) int { return compareRounds(a.round, b.round) })
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
func placeOf(line []turn, id string) int {
	return slices.IndexFunc(line, func(w turn) bool { return w.id == id })
}

// doubled reports whether another call of the same caller has the round of the one at that
// place, and comes before it: two berths gave it out at once.
func doubled(line []turn, at int) bool {
	own := line[at]
	return own.caller != "" && slices.ContainsFunc(line[:at], func(w turn) bool { return w.caller == own.caller && w.round == own.round })
}

// turnKey names the record of the round that was given a place last.
func turnKey(line string) string { return "upgrade:turn:" + line }

// lastRound returns the round of the call that was given a place last in a line, as far as
// that is known.
func (q *queues) lastRound(ctx context.Context, line string) uint64 {
	record, err := q.lists.store.Get(ctx, turnKey(line))
	if err != nil {
		return 0
	}
	round, _ := strconv.ParseUint(string(record.Value), 10, 64)
	return round
}

// noteRound notes that a call was given its place.
func (q *queues) noteRound(ctx context.Context, line string, taken turn, life time.Duration) {
	if taken.round > 0 {
		_ = q.lists.store.Put(ctx, turnKey(line), strconv.AppendUint(nil, taken.round, 10), max(life, time.Second)) // lost, the next call has a round sooner
	}
}

// queueUp has a task stand in a line, behind those of its caller, and returns the line with
// it.
func (h *Held) queueUp(ctx context.Context, t *task.Task, line []turn) []turn {
	name := t.QueueName()
	if h.turn.name == "" {
		after := h.l.queues.lastRound(ctx, name)
		for i, w := range line {
			if i == 0 {
				after = max(after, w.round-1)
			}
			if w.caller == t.Caller {
				after = max(after, w.round)
			}
		}
		h.turn = turnOf(t.ID, t.Caller, h.l.queues.round(name, t.Caller, after))
	}
	_ = h.l.lists.add(ctx, h.l.lists.waitingIn(name), h.turn.name, time.Until(h.expires), 0)
	h.l.queues.changed(t.Terms.Queue)
	return insert(line, h.turn)
}

// insert returns a line with one more who has come last.
func insert(line []turn, last turn) []turn {
	at := slices.IndexFunc(line, func(w turn) bool { return w.round > last.round })
	if at < 0 {
		at = len(line)
	}
	return slices.Insert(slices.Clone(line), at, last)
}

// queueAnew has a task leave its place in a line for one of a later round.
func (h *Held) queueAnew(ctx context.Context, t *task.Task, line []turn, at int) []turn {
	h.l.lists.remove(ctx, h.l.lists.waitingIn(t.QueueName()), line[at].name)
	h.turn = turn{}
	return h.queueUp(ctx, t, slices.Delete(slices.Clone(line), at, at+1))
}
