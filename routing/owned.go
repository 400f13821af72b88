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
type owned struct {
	now  atomic.Pointer[inStore]
	made atomic.Int64 // tasks that this process has had it own, ever
}

// inStore is what the store has counted.
type inStore struct {
	sticky.Owned
	made int64 // of owned.made when the store was asked: those are in it
}

// Owned returns what the upstream owned when the store was last asked; known is false if it never
// was.
func (u *Upstream) Owned() (o sticky.Owned, known bool) {
	now := u.owned.now.Load()
	if now == nil {
		return o, false
	}
	return now.Owned, true
}

// Count asks what the upstream owns, and notes it.
func (u *Upstream) Count(ask func() (sticky.Owned, error)) (sticky.Owned, error) {
	made := u.owned.made.Load()
	o, err := ask()
	if err == nil {
		u.owned.now.Store(&inStore{o, made})
	}
	return o, err
}

// Made notes that this process has had the upstream own a task.
func (u *Upstream) Made() { u.owned.made.Add(1) }

// Tasks is how many live tasks the upstream has: those that the store counted last, and those that this process has had it own since.
func (u *Upstream) Tasks() int {
	made := u.owned.made.Load()
	now := u.owned.now.Load()
	if now == nil {
		return int(made)
	}
	return now.Tasks + int(max(0, made-now.made))
}
