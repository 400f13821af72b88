package routing

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"berth/routing/turns"
)

// What unbound work fails with that waits for room, or may not. It was sent to nobody.
var (
	ErrFull = errors.New("routing: all upstreams are full, and so is the queue for room")
	ErrLate = errors.New("routing: no upstream had room in time")
)

// room is what keeps unbound work within Settings.MaxInFlight, and the queue for it. A pool
// without such a bound never locks it.
type room struct {
	pool    *Pool
	waiting atomic.Int64 // how many wait, in all

	mu    sync.Mutex           // guards the field below; held while an upstream is chosen and counted
	queue turns.Queue[*waiter] // who wait
}

// waiter is one who waits for room.
type waiter struct {
	work  Work
	tried []*Upstream
	done  chan struct{} // closed when one of the fields below is set
	lease *Lease
	err   error
}

// isBounded reports whether there is a bound on what upstreams have under way.
func (m *members) isBounded(s *Settings) bool { return s.MaxInFlight > 0 || m.bounded }

// hasRoom reports whether an upstream may be given more unbound work.
func (u *Upstream) hasRoom(s *Settings) bool {
	most := u.MaxInFlight
	if most == 0 {
		most = s.MaxInFlight
	}
	return most == 0 || u.Busy() < most
}

// Waiting returns how many calls wait for room.
func (p *Pool) Waiting() int { return int(p.room.waiting.Load()) }

// Await is Pick for work that waits, if the upstreams that may have it are full: behind those of
// the same caller, and in turn with other callers'. Errors: ErrNoUpstream, ErrFull, ErrLate, or
// ctx's.
func (p *Pool) Await(ctx context.Context, w Work, tried []*Upstream) (*Lease, error) {
	s, m := p.settings.Load(), p.members.Load()
	if !m.isBounded(s) {
		return p.Pick(w, tried)
	}
	lease, mine, err := p.room.enter(s, m, w, tried)
	if mine == nil {
		p.metrics.turnedAway(err)
		return lease, err
	}
	late := time.NewTimer(s.QueueTimeout)
	defer late.Stop()
	select {
	case <-mine.done:
	case <-late.C:
		err = ErrLate
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err == nil || !p.room.withdraw(mine) { // it may come at the same moment
		lease, err = mine.lease, mine.err
	}
	p.metrics.turnedAway(err)
	return lease, err
}

// enter gives work a place, or has it wait as mine.
func (r *room) enter(s *Settings, m *members, w Work, tried []*Upstream) (lease *Lease, mine *waiter, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queue.Len() == 0 {
		if lease, err = r.take(s, m, w, tried); !errors.Is(err, ErrFull) {
			return lease, nil, err
		}
	}
	if r.queue.Len() >= s.Queue && !r.yields(s, w.Caller) {
		return nil, nil, ErrFull
	}
	mine = &waiter{work: w, tried: slices.Clone(tried), done: make(chan struct{})}
	r.queue.Join(w.Caller, mine)
	r.waiting.Store(int64(r.queue.Len())) // before it is looked for room: who frees some meanwhile must see it
	r.serve(s, m)
	return nil, mine, nil
}

// yields turns away the last of the caller who waits most often, for one who would wait less.
func (r *room) yields(s *Settings, caller string) bool {
	if !r.wouldYield(s, caller) {
		return false
	}
	most, _ := r.queue.Longest()
	last := r.queue.Last(most)
	r.queue.Withdraw(most, last)
	last.err = ErrFull
	close(last.done)
	return true
}

// wouldYield reports whether somebody waits more often than the caller would.
func (r *room) wouldYield(s *Settings, caller string) bool {
	_, n := r.queue.Longest()
	return s.Queue > 0 && r.queue.Waiting(caller)+1 < n
}

// take is Pick within the bound. Errors: ErrNoUpstream, ErrFull.
func (r *room) take(s *Settings, m *members, w Work, tried []*Upstream) (*Lease, error) {
	best, preferred, err := m.withRoom(s, w, tried)
	switch {
	case err != nil:
		return nil, err
	case preferred != nil:
		return newLease(preferred), nil
	}
	return newLease(r.pool.selection.pick(s, w, best, m.even)), nil
}

// withRoom is candidates within the bound. Errors: ErrNoUpstream, ErrFull.
func (m *members) withRoom(s *Settings, w Work, tried []*Upstream) (best []*Upstream, preferred *Upstream, err error) {
	best, preferred = m.candidates(w.Era, w.Prefer, tried)
	if preferred != nil && preferred.hasRoom(s) {
		return nil, preferred, nil
	}
	if preferred != nil {
		best, _ = m.candidates(w.Era, "", tried)
	}
	if len(best) == 0 {
		return nil, nil, ErrNoUpstream
	}
	if slices.ContainsFunc(best, func(u *Upstream) bool { return !u.hasRoom(s) }) {
		best = slices.DeleteFunc(slices.Clone(best), func(u *Upstream) bool { return !u.hasRoom(s) })
	}
	if len(best) == 0 {
		return nil, nil, ErrFull
	}
	return best, nil, nil
}

// squeeze is take, and beyond the bound where nobody has room.
func (r *room) squeeze(s *Settings, m *members, w Work, tried []*Upstream) (*Lease, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lease, err := r.take(s, m, w, tried)
	if !errors.Is(err, ErrFull) {
		return lease, err
	}
	if u := r.pool.selection.choose(s, m, w, tried); u != nil {
		return newLease(u), nil
	}
	return nil, ErrNoUpstream // the last one has begun to drain meanwhile
}

// letIn lets in those who wait, as far as there is room now.
func (r *room) letIn() {
	if r.waiting.Load() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serve(r.pool.settings.Load(), r.pool.members.Load())
}

// serve gives room to those who wait, caller by caller. Who waits for what is full, or not there
// any more, holds nobody up who does not.
func (r *room) serve(s *Settings, m *members) {
	defer func() { r.waiting.Store(int64(r.queue.Len())) }()
	var full [2]bool // by mcp.Era: for work that nobody was tried for
	for i := 0; i < len(r.queue.Callers()); {
		_, first := r.queue.First(i)
		if era := first.work.Era; full[era] && len(first.tried) == 0 {
			i++
			continue
		}
		lease, err := r.take(s, m, first.work, first.tried)
		if errors.Is(err, ErrFull) {
			full[first.work.Era] = full[first.work.Era] || len(first.tried) == 0
			i++
			continue
		}
		r.queue.Take(i)
		first.lease, first.err = lease, err
		close(first.done)
		i = 0
	}
}

// withdraw takes one out who waits, unless he has got what he waited for.
func (r *room) withdraw(mine *waiter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was := r.queue.Withdraw(mine.work.Caller, mine)
	r.waiting.Store(int64(r.queue.Len()))
	return was
}
