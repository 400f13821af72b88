package upgrade

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/internal/storage"
	"berth/routing"
)

// placeEvery is how often a call that waits looks for a place, whether anybody told it of
// one or not.
const placeEvery = time.Second

// takePlace chooses an upstream that is not in tried, and takes a place there if the rule
// bounds how many there are. It waits for one for as long as it takes.
func (h *Held) takePlace(tried []*routing.Upstream) (*routing.Lease, error) {
	task := h.Task()
	pool := h.t.pools[task.Pool].Routing
	if task.Terms.Slots == 0 {
		return pool.Pick(task.Upstream, tried)
	}
	ctx, cancel := context.WithDeadlineCause(h.ctx, task.Expires(), errTimeout)
	defer cancel()
	freed, stop := h.t.hub.watch(queueTopic(task.Terms.Queue))
	defer stop()
	for {
		lease, err := h.tryPlace(ctx, pool, &task, tried)
		if err != nil {
			h.t.giveUpPlace(ctx, &task)
			return nil, err
		}
		if lease != nil {
			return lease, nil
		}
		select {
		case <-ctx.Done():
			h.t.giveUpPlace(ctx, &task)
			return nil, context.Cause(ctx)
		case <-freed:
		case <-time.After(placeEvery):
		}
	}
}

// tryPlace takes a place at one of the upstreams if it is this call's turn; nil if there
// is none, or nobody can say. Nobody but the first in the queue tries, so that places are
// given in order: as many as there are places in all.
func (h *Held) tryPlace(ctx context.Context, pool *routing.Pool, task *Task, tried []*routing.Upstream) (*routing.Lease, error) {
	waiting, err := h.t.store.Members(ctx, h.t.lists.waitingIn(task.Terms.Queue))
	if err != nil {
		return nil, nil
	}
	at := slices.Index(waiting, task.ID)
	if at < 0 {
		// Put there anew: by an outage of the store it may have been lost, and a later round
		// has left.
		_ = h.t.lists.enlist(ctx, h.t.lists.waitingIn(task.Terms.Queue), task.ID, time.Until(task.Expires()), 0)
		at = len(waiting)
	}
	if at >= task.Terms.Slots*len(pool.Upstreams()) {
		return nil, nil
	}
	full := slices.Clone(tried)
	for {
		lease, err := pool.Pick(task.Upstream, full)
		if errors.Is(err, routing.ErrNoUpstream) && len(full) > len(tried) {
			return nil, nil // all are full, none is gone
		}
		if err != nil {
			return nil, err
		}
		err = h.t.lists.enlist(ctx, h.t.lists.slotsOf(task.Terms.Queue, lease.Upstream.Name), task.ID, time.Until(task.Expires())+spare, task.Terms.Slots)
		if err == nil {
			h.t.unqueue(ctx, task)
			return lease, nil
		}
		lease.Release()
		if !errors.Is(err, storage.ErrFull) {
			return nil, nil
		}
		full = append(full, lease.Upstream)
	}
}

// unqueue takes a call out of its queue, as soon as the store takes it: one that stayed
// there would keep others from their turn.
func (t *Tasks) unqueue(ctx context.Context, task *Task) {
	leave := func(ctx context.Context) error {
		return t.store.Delist(ctx, t.lists.waitingIn(task.Terms.Queue), task.ID)
	}
	if leave(ctx) != nil {
		t.backlog.add(leave)
	}
}

// giveUpPlace lets those behind a call have its turn: it will not take it.
func (t *Tasks) giveUpPlace(ctx context.Context, task *Task) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	t.unqueue(ctx, task)
	t.tell(ctx, queueTopic(task.Terms.Queue))
}

// leavePlace gives back what takePlace took.
func (h *Held) leavePlace(lease *routing.Lease) {
	if lease == nil {
		return
	}
	lease.Release()
	task := h.Task()
	if task.Terms.Slots == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), storeTime)
	defer cancel()
	h.t.freeSlot(ctx, task.ID, task.Terms.Queue, lease.Upstream.Name)
}

// freeSlot gives a place back, as soon as the store takes it, and tells those who wait.
func (t *Tasks) freeSlot(ctx context.Context, id, queue, upstream string) {
	free := func(ctx context.Context) error { return t.store.Delist(ctx, t.lists.slotsOf(queue, upstream), id) }
	if free(ctx) != nil {
		t.backlog.add(free)
	}
	t.tell(ctx, queueTopic(queue))
}

// place returns where a call stands in its queue, from 1; 0 if it is in none.
func (t *Tasks) place(ctx context.Context, task *Task) int {
	waiting, err := t.store.Members(ctx, t.lists.waitingIn(task.Terms.Queue))
	if err != nil {
		return 0
	}
	return slices.Index(waiting, task.ID) + 1
}
