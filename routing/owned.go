package routing

import (
	"sync/atomic"

	"berth/sticky"
)

// UnderWay is what goes on at an upstream, as this process knows it. Each is counted once.
type UnderWay struct {
	Requests int // of clients, and of berth's own
	Streams  int // subscriptions and sessions' standing streams
	Held     int // calls that berth keeps for tasks, or that wait for what their client was asked
}

// UnderWay counts what goes on at the upstream.
func (u *Upstream) UnderWay() UnderWay {
	// What is counted twice was counted second last: it is never missed.
	held, streams := u.held.Load(), u.standing.Load()
	return UnderWay{Requests: int(max(0, u.inflight.Load()-held-streams)), Streams: int(streams), Held: int(held + u.waiting.Load())}
}

// Wait counts a held call of which nothing is in flight: it waits for its client. It is not load.
func (u *Upstream) Wait() { u.waiting.Add(1) }

// WaitOver undoes Wait.
func (u *Upstream) WaitOver() { u.waiting.Add(-1) }

// owned is what an upstream owns, as last learned from the store.
type owned struct{ now atomic.Pointer[sticky.Owned] }

// Owned returns what the upstream owned when the store was last asked; known is false if it never
// was.
func (u *Upstream) Owned() (o sticky.Owned, known bool) {
	now := u.owned.now.Load()
	if now == nil {
		return o, false
	}
	return *now, true
}

// Learn notes what the upstream owns.
func (u *Upstream) Learn(o sticky.Owned) { u.owned.now.Store(&o) }
