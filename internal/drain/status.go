package drain

import (
	"time"

	"berth/routing"
)

// Counts are what an upstream owns, and what is under way there at all berths.
type Counts struct {
	Tasks    int `json:"tasks"`    // that have not ended, or whose result nobody was given
	Sessions int `json:"sessions"` // of clients; without those that are in nobody's way, see Status.Movable
	Streams  int `json:"streams"`  // subscriptions, and sessions' standing streams
	Requests int `json:"requests"` // under way
	Held     int `json:"held"`     // calls that berths keep for tasks, or that wait for what their client was asked
}

// None reports whether nothing is left.
func (c Counts) None() bool { return c == Counts{} }

func (c Counts) plus(o Counts) Counts {
	return Counts{c.Tasks + o.Tasks, c.Sessions + o.Sessions, c.Streams + o.Streams, c.Requests + o.Requests, c.Held + o.Held}
}

// Status says what is left at an upstream.
type Status struct {
	Pool     string `json:"pool"`
	Name     string `json:"name"`
	URL      string `json:"url"`
	Draining bool   `json:"draining"`
	// By is who has it drain: "operator" or "file".
	By           string    `json:"by,omitempty"`
	Since        time.Time `json:"since,omitzero"`
	MoveSessions bool      `json:"move_sessions,omitempty"`

	// Drained says that nothing is lost if the upstream stops now.
	Drained bool   `json:"drained"`
	Left    Counts `json:"left"`
	// Movable are sessions that the stop costs nothing: they are opened anew elsewhere.
	Movable int `json:"movable_sessions,omitempty"`
	// Uncounted are bindings that the store has not taken in yet: for a while after an outage.
	Uncounted int `json:"uncounted,omitempty"`
	// LostAfter is when the last task or session may be forgotten: what is left then is requests,
	// streams and held calls alone. Zero: there is none.
	LostAfter time.Time `json:"nothing_owned_after,omitzero"`

	Berths  int `json:"berths"`  // that are alive, as the store has it
	Heeding int `json:"heeding"` // of these, those that say that they give it no new work, or do not have it

	Items []Item `json:"items,omitempty"` // tasks and sessions, those first that are forgotten first
	More  int    `json:"more,omitempty"`  // tasks and sessions that are not among them
}

// said is what marks and reports say of an upstream.
func said(pool string, u *routing.Upstream, reports []report) Status {
	mark := u.Drain()
	s := Status{Pool: pool, Name: u.Name, URL: u.URL.Redacted(), Draining: u.IsDraining(), Since: mark.Since, MoveSessions: mark.MoveSessions, Berths: alive(reports)}
	switch {
	case mark.Set():
		s.By = "operator"
	case u.Draining:
		s.By = "file"
	}
	for _, r := range reports {
		s.take(r, place{pool, u.Name}, mark)
	}
	return s
}

// take adds what one berth reports.
func (s *Status) take(r report, at place, mark routing.Drain) {
	heeds := !r.Gone
	for _, way := range r.Upstreams {
		if (place{way.Pool, way.Upstream}) != at {
			continue
		}
		heeds = !r.Gone && (way.File || mark.Set() && way.Since.Equal(mark.Since))
		s.Left.Requests += way.Requests
		s.Left.Streams += way.Streams
		s.Left.Held += way.Held
		s.Uncounted += way.Unlisted
	}
	if heeds {
		s.Heeding++
	}
}

// addOf adds what the same instance owns by another name; at most so many of its items are told. It may not stop while it takes new work
// by that, at this berth or at another one.
func (s *Status) addOf(other Status, most int) {
	s.Drained = s.Drained && other.Drained
	s.Left = s.Left.plus(other.Left)
	s.Movable += other.Movable
	s.Uncounted += other.Uncounted
	if other.LostAfter.After(s.LostAfter) {
		s.LostAfter = other.LostAfter
	}
	more := min(len(other.Items), max(0, most-len(s.Items)))
	s.Items = append(s.Items, other.Items[:more]...)
	s.More += other.More + len(other.Items) - more
}
