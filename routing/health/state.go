package health

import (
	"errors"
	"fmt"
	"time"
)

// What State.Name may be.
const (
	StateOK        = "ok"
	StateSilent    = "silent"    // it does not answer
	StateUnchecked = "unchecked" // it joined, and has passed no check yet
	StateFailing   = "failing"   // it fails its checks, or berth cannot start it
	StateEjected   = "ejected"   // requests to it failed
)

// StateNames are all of them. It must not be changed.
var StateNames = []string{StateOK, StateSilent, StateUnchecked, StateFailing, StateEjected}

// State is what keeps unbound work from an upstream, if anything does, as far as berth knows. It
// says nothing of draining.
type State struct {
	Name  string
	Cause error     // how it showed; nil where nothing does. Of one that is ok, what is to be told all the same
	Since time.Time // zero: as long as berth knows the upstream

	Check CheckResult // the last one; zero: there was none
}

// State returns what the upstream's state is now. Of several troubles it names the one that says
// most. began is when one that is well joined or came back; zero: it was there from the first.
func (h *Health) State(began time.Time) State {
	s := State{Name: StateOK, Check: h.checked.last()}
	switch c := h.is(); {
	case c.silent():
		s.Name, s.Cause, s.Since = StateSilent, c.silence, c.silentSince
	case c.unstarted != nil:
		s.Name, s.Cause, s.Since = StateFailing, c.unstarted, c.unstartedSince
	case c.failing && c.failure == ErrUnchecked:
		s.Name, s.Cause, s.Since = StateUnchecked, c.failure, c.failingSince
	case c.failing:
		s.Name, s.Cause, s.Since = StateFailing, c.failure, c.failingSince
	case c.ejected():
		s.Name, s.Cause, s.Since = StateEjected, c.cause, c.since
	default:
		s.Since = began
		if c.remark != "" {
			s.Cause = errors.New(c.remark)
		}
	}
	return s
}

var troubles = map[string]string{
	StateSilent:    "does not answer",
	StateUnchecked: "has passed no check yet",
	StateFailing:   "fails its checks",
	StateEjected:   "is ejected",
}

// Trouble says in a few words what keeps unbound work from the upstream; "" if nothing does.
func (s State) Trouble() string { return troubles[s.Name] }

// String is the state for a line of readiness: what, since when, and how it showed.
func (s State) String() string {
	if s.Name == StateOK {
		return s.Name
	}
	return fmt.Sprintf("%s since %s (%v)", s.Trouble(), s.Since.UTC().Format(time.TimeOnly+"Z"), s.Cause)
}

// IsDown reports whether nobody should count on the upstream: it does not answer, or has not passed its
// checks.
func (s State) IsDown() bool {
	return s.Name == StateSilent || s.Name == StateFailing || s.Name == StateUnchecked
}
