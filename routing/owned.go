package routing

import (
	"sync"
	"sync/atomic"
	"time"

	"berth/sticky"
)

// UnderWay is what goes on at an upstream, as this process knows it. Each is counted once.
type UnderWay struct {
	Requests int // of clients, and of berth's own
	Streams  int // subscriptions and sessions' standing streams
	Held     int // calls that berth keeps for tasks, or that wait for what their client was asked, and those that it has left

	Waiting int // of Held, those of which nothing is in flight
	Left    int // of Held, those that this process has left to another, which need not count them yet
}

// Sum is all of it.
func (w UnderWay) Sum() int { return w.Requests + w.Streams + w.Held }

// LeftFor is how long a call counts that was left to another process: that one has counted it, and told others, by then.
const LeftFor = 30 * time.Second

// UnderWay counts what goes on at the upstream.
func (u *Upstream) UnderWay() UnderWay {
	// What is counted twice was counted second last: it is never missed.
	held, streams := u.held.Load(), u.standing.Load()
	now := UnderWay{Requests: int(max(0, u.inflight.Load()-held-streams)), Streams: int(streams), Waiting: int(u.waiting.Load()), Left: u.left.count()}
	now.Held = int(held) + now.Waiting + now.Left
	return now
}

// Leave counts a held call that this process leaves to another. Call it before what else counts the call is over.
func (u *Upstream) Leave() { u.left.note() }

// left are the calls that were left lately. The zero value is none.
type left struct {
	mu   sync.Mutex // guards the fields below
	n    int
	last time.Time
}

func (l *left) note() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	l.n, l.last = l.n+1, time.Now()
}

func (l *left) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	return l.n
}

// forget has none count once the last is old: a process that leaves calls leaves all that it can. The caller holds mu.
func (l *left) forget() {
	if time.Since(l.last) >= LeftFor {
		l.n = 0
	}
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
