package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/internal/storage"
	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/places"
	"berth/upgrade/queues"
	"berth/upgrade/task"
)

// place is an upstream that a call goes to, and what the call takes there.
type place struct {
	*routing.Lease
	list, name string // the place among those that the rule allows; "" if it allows any number
}

// slot is where a held call queues, and what it has taken of an upstream's places.
type slot struct {
	h     *Held
	turn  queues.Turn // where it queues; run's
	had   queues.Turn // where it queued for the place that it has, or had last; run's
	avoid avoided     // run's
	anew  bool        // run's: as of Pick
	at    place       // guarded by h.mu; none while it waits
	kept  string      // the name of the place that standIn takes; "": a new one
}

// avoided are upstreams to which a call could not be sent a moment ago.
type avoided struct {
	upstreams []*routing.Upstream
	until     time.Time
}

// avoidFor is how long a call waits before it goes to where it could not be sent.
const avoidFor = 2 * time.Second

// now are those that are avoided still.
func (a *avoided) now() []*routing.Upstream {
	if len(a.upstreams) > 0 && !time.Now().Before(a.until) {
		a.upstreams = nil
	}
	return a.upstreams
}

// comeBack has the call queue again for a place elsewhere, where it did before: it could not be sent to u.
func (sl *slot) comeBack(u *routing.Upstream) {
	sl.avoid = avoided{append(sl.avoid.now(), u), time.Now().Add(avoidFor)}
	sl.turn = sl.had
}

// take chooses an upstream that is not in tried, and takes a place there if the rule
// bounds how many there are. It waits for one for as long as it takes.
func (sl *slot) take(tried []*routing.Upstream) (place, error) {
	t := sl.h.record()
	pool := sl.h.r.Pools.Get(t.Pool).Routing
	if t.Session != "" || t.Answered { // it is to go on where it was, which other berths may know
		pool.Owner(sl.h.ctx, t.Upstream)
	}
	if t.Terms.Slots == 0 {
		lease, err := places.Pick(pool, t, tried, sl.anew)
		if err == nil {
			lease.Hold()
		}
		return place{Lease: lease}, err
	}
	ctx, cancel := context.WithDeadlineCause(sl.h.ctx, sl.h.Expires, task.ErrTimeout)
	defer cancel()
	waits, woken, stop := sl.h.r.Places.Await(t)
	defer stop()
	if u := pool.Find(t.Upstream); u != nil && t.Session != "" { // nobody else can go on with it
		u.Wait()
		defer u.WaitOver()
	}
	for {
		var taken place
		var err error
		onFreshStack(func() { taken, err = sl.try(ctx, pool, t, waits, slices.Concat(tried, sl.avoid.now())) })
		if taken.Lease != nil {
			return taken, nil
		}
		if err == nil {
			if sl.h.client != nil {
				sl.h.client.Waits()
			}
			err = waitFor(ctx, woken)
		}
		if err != nil {
			if !sl.h.isLeft() { // who takes it over has its turn
				sl.leaveQueue(t)
			}
			return place{}, err
		}
	}
}

// waitFor waits until the call is to look for a place, or for ctx's end, which it fails with.
func waitFor(ctx context.Context, woken <-chan struct{}) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-woken:
		return nil
	}
}

// leaveQueue gives up the place in the queue: what stays there is in the way of others.
func (sl *slot) leaveQueue(t *task.Task) {
	ctx, cancel := ledger.Bounded(context.WithoutCancel(sl.h.ctx))
	defer cancel()
	sl.unqueue(ctx, t)
	sl.h.l.Notices.Tell(ctx, ledger.QueueTopic(t.Terms.Queue))
}

// try takes a place at one of the upstreams if it is this call's turn; none if there
// is none, or nobody can say. Only so many of those that queue try as there are places in
// all, the first first: whoever has taken one leaves the turn to the next.
func (sl *slot) try(ctx context.Context, pool *routing.Pool, t *task.Task, waits *queues.Waits, tried []*routing.Upstream) (place, error) {
	lines := sl.h.l.Queues
	var at int
	var err error
	if sl.turn, at, err = lines.Stand(ctx, t, sl.turn, time.Until(sl.h.Expires)); err != nil {
		return place{}, nil
	}
	if waits.IsFarBehind(at, t.Terms.Slots*places.Choices(pool, t)) {
		sl.pruneFront(ctx, pool, t, waits)
		return place{}, nil
	}
	call, full := waits.Full()
	if full && at > 0 && len(tried) == 0 {
		return place{}, nil
	}
	if paused, err := sl.h.l.Pauses.Has(ctx, t.Terms.Queue); paused || err != nil {
		return place{}, nil
	}
	if !sl.h.l.Epoch.PlacesKnown(ctx) {
		return place{}, nil
	}
	taken, err := sl.takeSlot(ctx, pool, t, tried)
	switch {
	case err != nil:
	case taken.Lease != nil:
		ctx := context.WithoutCancel(ctx) // also if the call is given up by now
		lines.NoteRound(ctx, t.QueueName(), sl.turn, time.Until(sl.h.Expires)+ledger.Spare)
		sl.had = sl.turn
		if !sl.h.isLeft() { // who takes it over has its turn
			sl.unqueue(ctx, t)
		}
	default:
		sl.foundNone(ctx, pool, t, waits, call, at, len(tried) > 0)
	}
	return taken, err
}

// foundNone leaves it to those behind to look for a place, if they can go where the call cannot for now, and sees to what is in the way of
// all. call is that of Full.
func (sl *slot) foundNone(ctx context.Context, pool *routing.Pool, t *task.Task, waits *queues.Waits, call uint64, at int, avoids bool) {
	switch bound := places.IsBound(pool, t, sl.anew); {
	case avoids, bound:
		waits.Pass(t.ID, places.Choices(pool, t), !avoids)
	default:
		waits.Found(call)
	}
	switch {
	case at == 0 && waits.IsToPrune():
		sl.h.r.Places.PruneSlots(ctx, pool, t.Terms.Queue)
	case at > 0:
		sl.pruneFront(ctx, pool, t, waits)
	}
}

// pruneFront looks whether one of those in front is in the line no more, or can go to one upstream alone.
func (sl *slot) pruneFront(ctx context.Context, pool *routing.Pool, t *task.Task, waits *queues.Waits) {
	front, ok := sl.h.l.Queues.ToPrune(t.QueueName())
	if !ok {
		return
	}
	if other := sl.h.r.Places.PruneQueue(ctx, t, front); other != nil && places.IsBound(pool, other, false) {
		waits.StandAside(front.ID)
	}
}

// unqueue takes the call's task out of its line.
func (sl *slot) unqueue(ctx context.Context, t *task.Task) {
	if sl.turn.Name != "" {
		sl.h.l.LeaveLine(ctx, t, sl.turn.Name)
		sl.turn = queues.Turn{}
	}
}

// takeSlot takes a place wherever one is free; none if none is, or nobody can say.
func (sl *slot) takeSlot(ctx context.Context, pool *routing.Pool, t *task.Task, tried []*routing.Upstream) (place, error) {
	full := slices.Clone(tried)
	for {
		lease, err := places.Pick(pool, t, full, sl.anew)
		if errors.Is(err, routing.ErrNoUpstream) && (len(full) > len(tried) || sl.waitsForAny(t)) {
			return place{}, nil // all are full, and another time one may take it
		}
		if err != nil {
			return place{}, err
		}
		at := place{
			Lease: lease, list: sl.h.l.Lists.SlotsOf(t.Terms.Queue, lease.Upstream.Name),
			name: ledger.PlacesOf(t.ID, sl.h.l.Holder) + task.NewName(6),
		}
		err = sl.h.l.Lists.Add(ctx, at.list, at.name, time.Until(sl.h.Expires)+ledger.Spare, t.Terms.Slots)
		if err == nil {
			lease.Hold()
			sl.standAt(at)
			return at, nil
		}
		lease.Release()
		if !errors.Is(err, storage.ErrFull) {
			sl.h.l.FreeSlot(ctx, at.list, at.name) // it may have been taken
			return place{}, nil
		}
		full = append(full, lease.Upstream)
	}
}

// waitsForAny reports whether the call of a task stays in its line as long as no upstream takes it: one that drains, or restarts,
// comes back, or another takes its place. What lives in a session goes to that one alone, and fails with it.
func (sl *slot) waitsForAny(t *task.Task) bool {
	return t.Terms.Slots > 0 && t.Session == "" && t.Call == ""
}

// standAt notes where the call is, to be put back if the store loses it.
func (sl *slot) standAt(at place) {
	sl.h.mu.Lock()
	defer sl.h.mu.Unlock()
	sl.at = at
}

// leave gives back what take took.
func (sl *slot) leave(at place) {
	if at.Lease == nil {
		return
	}
	at.Release()
	sl.standAt(place{})
	if at.name == "" || sl.h.isLeft() { // the call runs on: its place is given back by who takes it over
		return
	}
	ctx, cancel := ledger.Bounded(context.WithoutCancel(sl.h.ctx))
	defer cancel()
	sl.h.l.FreeSlot(ctx, at.list, at.name)
	sl.h.l.Notices.Tell(ctx, ledger.QueueTopic(sl.h.record().Terms.Queue))
}

// StandAs has the call take the place that Places.Stand named, before it is started.
func (h *Held) StandAs(name string) *Held {
	h.slot.kept = name
	return h
}

// standIn takes the place of a call that runs at u already.
func (sl *slot) standIn(u *routing.Upstream) place {
	t := sl.h.record()
	at := place{Lease: sl.h.r.Pools.Get(t.Pool).Routing.Own(u)}
	at.Hold()
	if t.Terms.Slots == 0 {
		return at
	}
	at.list, at.name = sl.h.l.Lists.SlotsOf(t.Terms.Queue, u.Name), sl.kept
	if sl.kept = ""; at.name == "" {
		at.name = ledger.PlacesOf(t.ID, sl.h.l.Holder) + task.NewName(6)
	}
	_ = sl.h.l.Lists.Add(sl.h.ctx, at.list, at.name, time.Until(sl.h.Expires)+ledger.Spare, 0) // more than the rule says, for it runs; put back if it is lost
	sl.standAt(at)
	return at
}
