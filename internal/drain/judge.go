package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	"berth/internal/discover"
	"berth/routing"
	"berth/sticky"

	"golang.org/x/sync/errgroup"
)

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
	at := there{pool, u}
	return w.judge(ctx, at, w.named()[at.target()], reports, most)
}

// All tells of all upstreams, without what they own.
func (w *Watch) All(ctx context.Context) ([]Status, error) {
	reports, err := w.reports(ctx)
	if err != nil {
		return nil, err
	}
	places, named := w.places(), w.named()
	all := make([]Status, len(places))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for i, at := range places {
		group.Go(func() (err error) {
			all[i], err = w.judge(ctx, at, named[at.target()], reports, 0)
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

// target is where requests of a pool go.
type target struct{ pool, spot string }

func (t there) target() target { return target{t.pool, discover.Spot(t.URL)} }

// named are all upstreams by their targets: an instance may have several names in a pool.
func (w *Watch) named() map[target][]there {
	all := map[target][]there{}
	for _, at := range w.places() {
		all[at.target()] = append(all[at.target()], at)
	}
	return all
}

// judge tells of an upstream, and of what its instance owns by other names that it has in the pool, which are among names: one that
// was renamed drains by the former name, for that.
func (w *Watch) judge(ctx context.Context, at there, names []there, reports []report, most int) (Status, error) {
	s, err := w.status(ctx, at.pool, at.Upstream, reports, most)
	if err != nil {
		return s, err
	}
	for _, other := range names {
		if other.Name == at.Name {
			continue
		}
		by, err := w.status(ctx, other.pool, other.Upstream, reports, most)
		if err != nil {
			return s, err
		}
		s.addOf(by, most)
	}
	return s, nil
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
		s.Drained = stands.Marks[u.Name].Set()
	}
	return s, nil
}

// isTakenOver reports whether the pool has another upstream that takes new work, and so sessions of u.
func (w *Watch) isTakenOver(pool string, u *routing.Upstream) bool {
	return slices.ContainsFunc(w.o.Pools(), func(p *routing.Pool) bool { return p.Name() == pool && p.IsTakenOver(u) })
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
