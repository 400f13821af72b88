package quota

import (
	"errors"
	"sync"
	"time"

	"berth/upgrade/task"
)

// ErrTooMuchKept says that a caller, or this process, keeps as much of tasks as it may, those
// that have ended included.
var ErrTooMuchKept = errors.New("upgrade: too much is kept")

// Bounds are what the tasks of this process, and those of one caller, may keep until they
// expire. Zero is any number.
type Bounds struct {
	Tasks, TasksPerCaller int
	Bytes, BytesPerCaller int64 // arguments, outcomes, what clients are asked, and the records
	Held, HeldPerCaller   int64 // bytes of calls that this process holds: their arguments, and what is in their records
	Lent, LentPerCaller   int64 // bytes of outcomes that clients are being given
}

const (
	// recordSize is what a record counts for, with its places in lists.
	recordSize = 2 << 10

	// smallOutcome is what is always kept of a call that has ended, in bytes: what went
	// wrong must be told.
	smallOutcome = 4 << 10
)

// Quota counts what the tasks of this process keep, by caller. What has expired is given
// back by whoever comes next.
type Quota struct {
	mu     sync.Mutex // guards the fields below
	bounds Bounds
	all    Usage
	by     map[string]*account
	tasks  map[string]*kept
	queue  expiring
}

// New returns a count of nothing yet.
func New(b Bounds) *Quota {
	return &Quota{bounds: b, by: map[string]*account{}, tasks: map[string]*kept{}}
}

// SetBounds changes the bounds. What is kept stays, be it more than they allow.
func (q *Quota) SetBounds(b Bounds) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bounds = b
}

// Admit counts a new task that its caller wants to make with n bytes of arguments. It fails
// with a *Refusal if there is no room for it.
func (q *Quota) Admit(id, caller string, n int64, expires time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	own := q.accountOf(caller)
	if why := q.full(own.Usage, n); why != "" {
		return &task.Refusal{Err: ErrTooMuchKept, Reason: why}
	}
	q.put(&kept{account: own, id: id, bytes: n, held: n, expires: expires})
	return nil
}

// Room is Admit that counts nothing.
func (q *Quota) Room(caller string, n int64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	if why := q.full(q.usage(caller), n); why != "" {
		return &task.Refusal{Err: ErrTooMuchKept, Reason: why}
	}
	return nil
}

// full returns which bound keeps a caller from making a task with n bytes of arguments, whose tasks keep so much, ""
// if none does. The caller has the lock.
func (q *Quota) full(own Usage, n int64) string {
	b, size := q.bounds, n+recordSize
	switch {
	case b.TasksPerCaller > 0 && own.Tasks >= b.TasksPerCaller:
		return "caller_kept_tasks"
	case b.BytesPerCaller > 0 && own.Bytes+size > b.BytesPerCaller/4*3:
		return "caller_kept"
	case b.HeldPerCaller > 0 && own.Held > 0 && own.Held+n > b.HeldPerCaller:
		return "caller_held"
	case !q.fits(own, int64(own.Tasks+1), int64(q.all.Tasks+1), int64(b.Tasks), int64(b.Tasks)/2):
		return "kept_tasks"
	case !q.fits(own, own.Bytes+size, q.all.Bytes+size, b.Bytes, b.Bytes/2):
		return "kept"
	case !q.fits(own, own.Held+n, q.all.Held+n, b.Held, b.Held/2):
		return "held"
	}
	return ""
}

// fits reports whether a caller whose tasks keep so much may have own, and with it all callers all, of most: anybody
// while they have no more than free, and else who has less than an even share. 0 is any number.
func (q *Quota) fits(keeps Usage, own, all, most, free int64) bool {
	callers := int64(len(q.by))
	if keeps.Tasks == 0 { // of those that keep something, it is none yet
		callers++
	}
	return most == 0 || all <= free || own <= most/callers && all <= most+most/2
}

// Count counts a task that stands, whether there is room for it or not.
func (q *Quota) Count(id, caller string, bytes, held int64, expires time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.tasks[id]; k != nil {
		q.resize(k, max(k.bytes, bytes), held)
		return
	}
	q.put(&kept{account: q.accountOf(caller), id: id, bytes: bytes, held: held, expires: expires})
}

// AsHeld stands for as many bytes as a task holds already.
const AsHeld = -1

// Take has a task keep n bytes in place of what it kept, and this process hold so many of
// them, and reports whether there was room for that.
func (q *Quota) Take(id string, n, held int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	k := q.tasks[id]
	if k == nil {
		return true
	}
	if held == AsHeld {
		held = k.held
	}
	if !q.mayKeep(k, n) || !q.mayHold(k, held) {
		return false
	}
	q.resize(k, n, held)
	return true
}

// mayKeep reports whether there is room for a task to keep n bytes. The caller has the lock.
func (q *Quota) mayKeep(k *kept, n int64) bool {
	more, own, b := n-k.bytes, k.Usage, q.bounds
	return n <= smallOutcome || more <= 0 ||
		(b.BytesPerCaller == 0 || own.Bytes+more <= b.BytesPerCaller) && q.fits(own, own.Bytes+more, q.all.Bytes+more, b.Bytes, b.Bytes)
}

// mayHold reports whether there is room for n bytes of a task to be held. What its caller alone
// bounds leaves his only call alone. The caller has the lock.
func (q *Quota) mayHold(k *kept, n int64) bool {
	more, own, b := n-k.held, k.Usage, q.bounds
	return more <= 0 ||
		(b.HeldPerCaller == 0 || own.Held == k.held || own.Held+more <= b.HeldPerCaller) && q.fits(own, own.Held+more, q.all.Held+more, b.Held, b.Held/2)
}

// Recount notes what a task keeps and holds now, unless its call is not held any more.
func (q *Quota) Recount(id string, bytes, held int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.tasks[id]; k != nil && k.held > 0 {
		q.resize(k, bytes, held)
	}
}

// LetGo notes that the call of a task is not held any more.
func (q *Quota) LetGo(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.tasks[id]; k != nil {
		q.resize(k, k.bytes, 0)
	}
}

// Settle notes that the call of a task is not held any more, and that the task keeps n bytes, if there is room for them.
func (q *Quota) Settle(id string, n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	k := q.tasks[id]
	if k == nil {
		return
	}
	if !q.mayKeep(k, n) {
		n = k.bytes
	}
	q.resize(k, n, 0)
}

// Drop gives back what a task keeps that is not there any more, or that another berth
// counts.
func (q *Quota) Drop(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.tasks[id]; k != nil {
		q.remove(k)
	}
}

// Has reports whether this process counts a task.
func (q *Quota) Has(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tasks[id] != nil
}

// Total is what is kept in all.
func (q *Quota) Total() Usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	return q.all
}

// AboveEven reports whether a caller keeps at least an even share of the bytes that all keep.
func (q *Quota) AboveEven(caller string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.usage(caller).Bytes
	return own > 0 && own*int64(len(q.by)) >= q.all.Bytes
}
