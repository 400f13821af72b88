package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"berth/upgrade/ledger"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// errLeft ends a call that is left to another berth: the record says so already.
var errLeft = errors.New("upgrade: left to another berth")

// SeekUpstreams looks for those upstreams of held calls that this berth knows no more: a call may be handed over if others find where it is.
func (r *Runner) SeekUpstreams(ctx context.Context) {
	sought := map[[2]string]bool{}
	for _, h := range r.Calls.All() {
		t := h.record()
		if at := [2]string{t.Pool, t.Upstream}; !sought[at] {
			sought[at] = true
			r.Pools.Owner(ctx, t)
		}
	}
}

// parting tells who sends a round to part from it.
type parting struct {
	once   sync.Once
	leaves chan struct{}
}

func (p *parting) part() { p.once.Do(func() { close(p.leaves) }) }

// Part has those answer that can have another berth go on with a call which runs: with a round that is due at once, which may be handed over before it
// is sent. Where a client waits for the answer itself it does so with the first Part behind that.
func (r *Runner) Part() {
	r.parting.part()
	for _, h := range r.Calls.All() {
		if own := h.parting.Load(); own != nil && h.unattended.Load() {
			own.part()
		}
	}
}

// partTime is how long a round that is due after its berth has parted from the one before may wait to be handed over: of many calls, each takes its turn.
const partTime = 2 * time.Second

func (r *Runner) isParting() bool {
	select {
	case <-r.parting.leaves:
		return true
	default:
		return false
	}
}

// partingOf is what tells who sends a round of the call to part from it, as Part does; nil: nobody is told, since no other process could send the next,
// or it is sent here for want of one.
func (r *Runner) partingOf(h *Held) <-chan struct{} {
	if r.isParting() || !h.isAuthorised(r.Pools.Get(h.record().Pool)) {
		return nil
	}
	if h.client == nil {
		return r.parting.leaves
	}
	own := &parting{leaves: make(chan struct{})}
	h.parting.Store(own)
	return own.leaves
}

// MayHandOver are the calls that another berth could go on with at once. It asks nobody.
func (r *Runner) MayHandOver() (some []*Held) {
	for _, h := range r.Calls.All() {
		if h.mayBeLeft() {
			some = append(some, h)
		}
	}
	return some
}

// mayBeLeft does not wait: of a call that takes a step just now it will be seen after that.
func (h *Held) mayBeLeft() bool {
	if !h.unattended.Load() || h.givenUp() != nil || !h.mu.TryLock() {
		return false
	}
	defer h.mu.Unlock()
	return h.mayBeHandedOver()
}

// HandOver lets go of calls, those that another berth can go on with still, and returns when all
// have been asked.
func (r *Runner) HandOver(ctx context.Context, some []*Held) {
	SomeAtOnce(slices.Values(some), func(h *Held) { h.handOver(ctx) })
}

// handOver makes it durable that the holder goes before anything is let go of: so nothing that is
// about to be sent is sent twice, and nothing that was sent is taken for what was not.
func (h *Held) handOver(ctx context.Context) {
	ctx, cancel := ledger.Bounded(ctx)
	defer cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.mayBeHandedOver() {
		return
	}
	if _, err := h.stepLocked(ctx, h.l.Op(task.Leave)); err == nil || errors.Is(err, task.ErrStale) {
		h.leaveToOther() // stale: an earlier attempt was not acknowledged
	}
}

// leaveToOther ends the call, which the record says is another berth's to go on with. The caller has h.mu.
func (h *Held) leaveToOther() {
	h.r.countAsLeft(h.entry.Task)
	h.end(errLeft)
}

// countAsLeft has the call of a task count at its upstream until another berth counts it.
func (r *Runner) countAsLeft(t *task.Task) {
	if u := r.Pools.Upstream(t); u != nil {
		u.Leave()
	}
}

// mayBeHandedOver reports whether another berth has all that it takes to go on. What is tied to
// this process, like a session of a server that it runs, would be lost with it. The caller has h.mu.
func (h *Held) mayBeHandedOver() bool {
	t := h.entry.Task
	pool := h.r.Pools.Get(t.Pool)
	if pool == nil || !t.Handed || !t.MayBeHandedOver() || !h.isAuthorised(pool) {
		return false
	}
	u := pool.Routing.Find(t.Upstream)
	bound := t.State == task.Dispatched || t.Session != ""
	return !bound || u != nil && (pool.Tied == nil || !pool.Tied(u))
}

// isAuthorised reports whether a process that has not heard of the client can send the call.
func (h *Held) isAuthorised(pool *transport.Destination) bool {
	return h.call.Bare || h.l.Records.Keys.Given() || pool != nil && pool.OwnCredentials
}

// isLeft reports whether another berth is to go on with the call.
func (h *Held) isLeft() bool { return errors.Is(h.givenUp(), errLeft) }
