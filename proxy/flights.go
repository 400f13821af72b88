package proxy

import (
	"context"
	"sync"
	"time"

	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/sticky"
)

// Bounds of sharing answers to polls.
const (
	// boarding is how long a poll under way takes riders on. With maxCoalesce, the most
	// that an endpoint's Coalesce can be, it bounds how old the answer to a poll is.
	boarding    = 5 * time.Second
	maxCoalesce = 5 * time.Second

	// markLife is how long a change of a task stays marked once it is acknowledged. No
	// answer that was asked for before it is given to anybody for longer than boarding
	// and maxCoalesce; the rest allows for clocks and pauses.
	markLife = 30 * time.Second

	keptBytes = 16 << 20 // of all answers that are kept
)

// flightKey says which polls may share an answer: those about one task of one
// principal that ask the same in the same way.
type flightKey struct {
	task, session sticky.Key // session is zero outside of one
	asks          [32]byte   // digest of what else bears on the answer
}

// flight is one poll under way to its upstream, and those who wait for its answer. The
// one whose request it is leads, the others ride.
type flight struct {
	key   flightKey
	mark  string    // of the task's last change that was known when it began
	began time.Time // before its request was sent

	ctx    context.Context // of the request; ends when nobody waits any more
	cancel context.CancelCauseFunc

	landed chan struct{} // closed when answer is what it stays
	answer *sharedAnswer // nil: each rider asks for itself

	// Guarded by flights.mu:
	led    bool      // the leader is aboard
	riders int       // the others who are
	until  time.Time // the answer is given until then; zero: under way
}

// sharedAnswer is an answer that several callers may be given.
type sharedAnswer struct {
	message []byte      // a JSON-RPC response, with the leader's id
	code    int         // of the error in it; 0 if there is none
	rule    wire.Header // which pages may read it
}

// flights are the polls under way, and those whose answers are kept for a moment. A
// change of a task ends what they may give to those who come after it.
type flights struct {
	mu    sync.Mutex // guards the fields below, and those of flights that say so
	byKey map[flightKey]*flight
	marks map[sticky.Key]string // changes that went through this process, for markLife
	kept  int                   // bytes of answers
}

func newFlights() *flights {
	return &flights{byKey: map[flightKey]*flight{}, marks: map[sticky.Key]string{}}
}

// board takes the caller onto the flight of key, or has it lead a new one, which lives
// no longer than the callers aboard. With a mark only a flight is ridden that began
// when the change it stands for was known.
func (fs *flights) board(ctx context.Context, key flightKey, mark string) (f *flight, leads bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	now := time.Now()
	if f := fs.byKey[key]; f != nil && f.takes(now) && (mark == "" || mark == f.mark) {
		f.riders++
		return f, false
	}
	if mark == "" {
		mark = joinMarks(key, func(k sticky.Key) string { return fs.marks[k] })
	}
	f = &flight{key: key, mark: mark, began: now, landed: make(chan struct{}), led: true}
	f.ctx, f.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	fs.drop(fs.byKey[key])
	fs.byKey[key] = f
	return f, true
}

// takes reports whether a caller may be given f's answer now.
func (f *flight) takes(now time.Time) bool {
	if !f.until.IsZero() {
		return now.Before(f.until)
	}
	return now.Sub(f.began) < boarding
}

// leave lets go of f, as one of its riders.
func (fs *flights) leave(f *flight) { fs.less(f, func() { f.riders-- }) }

// abandon lets go of f, as its leader.
func (fs *flights) abandon(f *flight) { fs.less(f, func() { f.led = false }) }

// less has one less aboard. When nobody is any more, the request ends.
func (fs *flights) less(f *flight, one func()) {
	fs.mu.Lock()
	one()
	empty := !f.led && f.riders == 0
	if empty && f.until.IsZero() {
		fs.drop(f)
	}
	fs.mu.Unlock()
	if empty {
		f.cancel(fault.ErrClientGone)
	}
}

// awaited reports whether anybody but the leader waits for f, or would be given its
// answer later. If not, nobody comes aboard any more.
func (fs *flights) awaited(f *flight, keep time.Duration) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.riders > 0 || keep > 0 {
		return true
	}
	fs.drop(f)
	return false
}

// land gives those aboard the answer, nil if there is none to share, and keeps it for
// those who come within keep, unless the flight took so long that they could be given
// what is too old. Only the first landing counts.
func (fs *flights) land(f *flight, answer *sharedAnswer, keep time.Duration) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if !f.until.IsZero() {
		return
	}
	now := time.Now()
	f.answer, f.until = answer, now.Add(keep)
	close(f.landed)
	if answer == nil || keep <= 0 || now.Sub(f.began) >= boarding || fs.kept+len(answer.message) > keptBytes {
		fs.drop(f)
		return
	}
	fs.kept += len(answer.message)
	time.AfterFunc(keep, func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		fs.kept -= len(answer.message)
		fs.drop(f)
	})
}

// drop lets nobody aboard f any more. Callers hold the lock.
func (fs *flights) drop(f *flight) {
	if f != nil && fs.byKey[f.key] == f {
		delete(fs.byKey, f.key)
	}
}

// invalidate notes that what key names, a task or a session, is being changed, or, with a
// mark, that it was: nobody who comes from now on is given what was asked for before.
func (fs *flights) invalidate(key sticky.Key, mark string) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for k := range fs.byKey {
		if k.task == key || k.session == key {
			delete(fs.byKey, k)
		}
	}
	delete(fs.marks, key)
	if mark == "" {
		return
	}
	fs.marks[key] = mark
	time.AfterFunc(markLife, func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		if fs.marks[key] == mark {
			delete(fs.marks, key)
		}
	})
}

// joinMarks returns the marks of what key's polls depend on, as one; "" if there are
// none.
func joinMarks(key flightKey, of func(sticky.Key) string) string {
	mark := of(key.task)
	if key.session != (sticky.Key{}) {
		if own := of(key.session); own != "" {
			mark += "/" + own
		}
	}
	return mark
}
