package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"berth/routing"
	"berth/sticky"

	"golang.org/x/sync/errgroup"
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

// Of tells of one upstream, and of at most so many things that it owns.
func (w *Watch) Of(ctx context.Context, pool, upstream string, most int) (Status, error) {
	u := w.find(pool, upstream)
	if u == nil {
		return Status{}, fmt.Errorf("%w: %s/%s", ErrUnknown, pool, upstream)
	}
	reports, err := w.reports(ctx)
	if err != nil {
		return Status{}, err
	}
	return w.status(ctx, pool, u, reports, most)
}

// All tells of all upstreams, without what they own.
func (w *Watch) All(ctx context.Context) ([]Status, error) {
	reports, err := w.reports(ctx)
	if err != nil {
		return nil, err
	}
	places := w.places()
	all := make([]Status, len(places))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for i, at := range places {
		group.Go(func() (err error) {
			all[i], err = w.status(ctx, at.pool, at.Upstream, reports, 0)
			return err
		})
	}
	return all, group.Wait()
}

// askedAtOnce is of how many upstreams the store is asked at a time.
const askedAtOnce = 8

// there is an upstream, and the pool that it is in.
type there struct {
	pool string
	*routing.Upstream
}

func (w *Watch) places() (all []there) {
	for _, pool := range w.o.Pools() {
		for _, u := range pool.Upstreams() {
			all = append(all, there{pool.Name(), u})
		}
	}
	return all
}

// Known tells of all upstreams what this process knows by itself, for who cannot wait for the store: what
// goes on here, and what the store counted last. It says of nothing that it is drained.
func (w *Watch) Known() []Status {
	all, own := []Status{}, []report{w.report()}
	for _, at := range w.places() {
		s := said(at.pool, at.Upstream, own)
		owned, _ := at.Owned()
		s.Left.Tasks, s.Left.Sessions = owned.Tasks, owned.Sessions
		s.LostAfter = s.lostAfter(owned)
		all = append(all, s)
	}
	return all
}

// said is what marks and reports say of an upstream.
func said(pool string, u *routing.Upstream, reports []report) Status {
	mark := u.Drain()
	s := Status{Pool: pool, Name: u.Name, URL: u.URL.Redacted(), Draining: u.IsDraining(), Since: mark.Since, MoveSessions: mark.MoveSessions, Berths: len(reports)}
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

// status judges by reports, and by what the store counts after they were read.
func (w *Watch) status(ctx context.Context, pool string, u *routing.Upstream, reports []report, most int) (Status, error) {
	mark := u.Drain()
	s := said(pool, u, reports)
	owned, err := w.o.Bindings.Owned(ctx, pool, u.Name)
	if err != nil {
		return Status{}, err
	}
	u.Learn(owned)
	s.Left.Tasks, s.Left.Sessions = owned.Tasks, owned.Sessions
	moves := s.MoveSessions && w.o.Reinit != nil && w.o.Reinit(pool) && w.isTakenOver(pool, u)
	if err := w.items(ctx, &s, &owned, most, moves); err != nil {
		return Status{}, err
	}
	s.LostAfter = s.lostAfter(owned)
	s.Drained = s.Draining && s.Heeding == s.Berths && s.Uncounted == 0 && s.Left.None()
	if s.Drained && mark.Set() {
		// A store that has lost the mark has lost what it counted, too.
		stands, _, err := w.read(ctx, pool)
		if err != nil {
			return Status{}, err
		}
		s.Drained = stands[u.Name].Set()
	}
	return s, nil
}

// lostAfter is when the last of what is left may be forgotten.
func (s *Status) lostAfter(owned sticky.Owned) (last time.Time) {
	if s.Left.Tasks > 0 {
		last = owned.TasksUntil
	}
	if s.Left.Sessions > 0 && owned.SessionsUntil.After(last) {
		last = owned.SessionsUntil
	}
	return last.UTC().Truncate(time.Second)
}

// take adds what one berth reports.
func (s *Status) take(r report, at place, mark routing.Drain) {
	heeds := true
	for _, way := range r.Upstreams {
		if (place{way.Pool, way.Upstream}) != at {
			continue
		}
		heeds = way.File || mark.Set() && way.Since.Equal(mark.Since)
		s.Left.Requests += way.Requests
		s.Left.Streams += way.Streams
		s.Left.Held += way.Held
		s.Uncounted += way.Unlisted
	}
	if heeds {
		s.Heeding++
	}
}

// isTakenOver reports whether the pool has another upstream that takes new work, and so sessions of u.
func (w *Watch) isTakenOver(pool string, u *routing.Upstream) bool {
	return slices.ContainsFunc(w.o.Pools(), func(p *routing.Pool) bool { return p.Name() == pool && p.IsTakenOver(u) })
}

// items reads what is left, and leaves out what is in nobody's way: with moves, sessions that can move. Of
// what was read in full owned says when the last is forgotten as that itself does, not as its list does.
func (w *Watch) items(ctx context.Context, s *Status, owned *sticky.Owned, most int, moves bool) error {
	read := most
	if moves {
		read = max(most, readToMove)
	}
	if most <= 0 && !s.Draining {
		return nil
	}
	tasks, all, err := w.o.Bindings.Left(ctx, sticky.Task, s.Pool, s.Name, max(most, readToStrike))
	if err != nil {
		return err
	}
	s.Left.Tasks = all
	if len(tasks) == all {
		owned.TasksUntil = lastOf(tasks)
	}
	s.add(tasks, w.o.IDs, most)
	sessions, all, err := w.o.Bindings.Left(ctx, sticky.Session, s.Pool, s.Name, max(read, readToStrike))
	if err != nil {
		return err
	}
	s.Left.Sessions = all
	whole := len(sessions) == all
	if moves {
		sessions = s.leaveOutMovable(sessions)
	}
	if whole {
		owned.SessionsUntil = lastOf(sessions)
	}
	s.add(sessions, w.o.IDs, most)
	s.More = s.Left.Tasks + s.Left.Sessions - len(s.Items)
	return nil
}

// lastOf is when the last of what is left may be forgotten.
func lastOf(left []sticky.Left) (last time.Time) {
	for _, one := range left {
		if one.Expires.After(last) {
			last = one.Expires
		}
	}
	return last
}

const (
	readToStrike = 64   // bindings that are read so that a list's errors are found, whoever asks for how few
	readToMove   = 5000 // sessions of which one question finds out whether they can be opened anew
)

// leaveOutMovable counts those apart that can be opened anew.
func (s *Status) leaveOutMovable(sessions []sticky.Left) (others []sticky.Left) {
	for _, one := range sessions {
		if time.Now().Before(one.Binding.Kept) {
			s.Movable++
			continue
		}
		others = append(others, one)
	}
	s.Left.Sessions -= s.Movable
	return others
}
