package queues

import (
	"cmp"

	"berth/internal/ordered"
)

// line is who waits in front of some places, the first first. To find one's place in it, to
// come and to go cost the same however many wait.
type line struct {
	order   *ordered.List[*stander]
	of      map[string]*stander // by task; of one that has two names the one that comes first
	first   map[turnsOf]*stander
	latest  map[string]uint64 // the last round that a caller has, or had
	arrived uint64
}

// stander is a call that waits.
type stander struct {
	Turn
	arrived uint64 // its number in the order of arrival
}

// turnsOf names the calls of one caller that have the same round: two berths gave it out at once.
type turnsOf struct {
	caller string
	round  uint64
}

func inOrder(a, b *stander) int {
	return cmp.Or(cmp.Compare(a.Round, b.Round), cmp.Compare(a.arrived, b.arrived))
}

// newLine returns the line of those names, given in the order of their arrival.
func newLine(names []string) *line {
	l := &line{
		of: make(map[string]*stander, len(names)), first: make(map[turnsOf]*stander, len(names)), latest: map[string]uint64{},
	}
	turns := inTurn(names)
	all, order := make([]stander, len(turns)), make([]*stander, len(turns))
	for i, turn := range turns {
		all[i] = stander{turn, uint64(i)}
		order[i] = &all[i]
		l.note(order[i])
	}
	l.order, l.arrived = ordered.Of(inOrder, order), uint64(len(turns))
	return l
}

// note indexes one that comes after all of its own that are in the line.
func (l *line) note(s *stander) {
	if l.of[s.ID] == nil {
		l.of[s.ID] = s
	}
	l.latest[s.Caller] = max(l.latest[s.Caller], s.Round)
	if turns := (turnsOf{s.Caller, s.Round}); l.first[turns] == nil {
		l.first[turns] = s
	}
}

// join lets one more come last of those who have its round, unless it stands there already.
func (l *line) join(turn Turn) {
	if stands := l.of[turn.ID]; stands != nil && stands.Name == turn.Name {
		return
	}
	s := &stander{turn, l.arrived}
	l.arrived++
	l.order.Insert(s)
	l.note(s)
}

// leave takes a name out. Another one of the same task is seen with the next reading.
func (l *line) leave(name string) {
	s := l.of[ReadTurn(name).ID]
	if s == nil || s.Name != name {
		return
	}
	l.order.Remove(s)
	delete(l.of, s.ID)
	if turns := (turnsOf{s.Caller, s.Round}); l.first[turns] == s {
		delete(l.first, turns)
	}
}

// find returns where a task stands, from 0; -1 if it does not.
func (l *line) find(id string) (turn Turn, at int) {
	s := l.of[id]
	if s == nil {
		return Turn{}, -1
	}
	return s.Turn, l.order.Place(s)
}

// doubled reports whether another call of the same caller has the round of a task's, and comes
// before it.
func (l *line) doubled(id string) bool {
	s := l.of[id]
	if s == nil || s.Caller == "" {
		return false
	}
	first := l.first[turnsOf{s.Caller, s.Round}]
	return first != nil && first != s
}

// last is a round before that of everybody who waits, and not before any of a caller's own.
func (l *line) last(caller string) uint64 {
	last := l.latest[caller]
	if l.order.Len() > 0 {
		last = max(last, l.order.At(0).Round-1)
	}
	return last
}
