package sessions

import (
	"context"
	"slices"
)

// shelf holds the sessions that one key names, at one upstream. Registry.mu guards its fields.
type shelf struct {
	of    *Registry
	key   string
	whose string     // the caller; "": everybody's
	loans []*Session // the one used last is the last

	opening bool          // a session that any number of calls may share
	changed chan struct{} // holds one: a session was opened, or given back
}

// shelfOf returns the shelf of a key. The caller holds reg.mu.
func (reg *Registry) shelfOf(key, whose string) *shelf {
	s := reg.shelves[key]
	if s == nil {
		s = &shelf{of: reg, key: key, whose: whose, changed: make(chan struct{}, 1)}
		reg.shelves[key] = s
	}
	return s
}

// settle forgets a shelf that holds nothing. The caller holds Registry.mu.
func (s *shelf) settle() {
	if len(s.loans) == 0 {
		delete(s.of.shelves, s.key)
	}
}

// own returns the session of a name that may be lent; nil if there is none.
func (s *shelf) own(id string, alone bool) *Session {
	for _, l := range s.loans {
		if id != "" && l.ID == id && !l.leaves && (l.users == 0 || !alone && !l.alone) {
			return l
		}
	}
	return nil
}

// fit returns the session that was used last of those that may be lent; nil if there is none.
func (s *shelf) fit(alone bool) *Session {
	for _, l := range slices.Backward(s.loans) {
		if !l.leaves && (l.users == 0 || !alone && !l.alone) {
			return l
		}
	}
	return nil
}

// retire has sessions that are to be given nothing new end, at once or with their last use; nil has none. The caller holds Registry.mu.
func (s *shelf) retire() { s.endThose(func(l *Session) bool { return l.At.Retires(l.ID) }) }

// endThose has sessions that are meant end, at once or with their last use; nil has none. The caller holds Registry.mu.
func (s *shelf) endThose(meant func(*Session) bool) {
	if s == nil {
		return
	}
	for _, l := range slices.Backward(s.loans) { // removing one moves those behind it
		if l.At == nil || l.leaves || !meant(l) { // or it is being opened
			continue
		}
		l.leaves = true
		if l.users == 0 && !l.tasks.any() {
			l.remove()
			go l.End(context.Background())
		}
	}
}

// place returns the least number that no session of the shelf has. What may not be asked needs no
// place of its own.
func (s *shelf) place(alone bool) (place int, free bool) {
	for place = 0; slices.ContainsFunc(s.loans, func(l *Session) bool { return l.Place == place }); place++ {
	}
	return place, !alone || place < Places
}

// tell wakes one that waits for a session.
func (s *shelf) tell() {
	if s == nil {
		return
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
}
