package upgrade

import (
	"container/heap"
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

// usage is what is kept, of a caller or of all.
type usage struct {
	tasks int
	bytes int64
	held  int64
}

// kept is what one task keeps.
type kept struct {
	id, caller string
	bytes      int64 // beside the record
	held       int64
	expires    time.Time
	place      int // in the queue of those that expire
}

// quota counts what the tasks of this process keep, by caller. What has expired is given
// back by whoever comes next.
type quota struct {
	bounds Bounds

	mu    sync.Mutex // guards the fields below
	all   usage
	by    map[string]usage
	tasks map[string]*kept
	queue expiring
}

func newQuota(b Bounds) *quota {
	return &quota{bounds: b, by: map[string]usage{}, tasks: map[string]*kept{}}
}

// admit counts a new task that its caller wants to make with n bytes of arguments. It fails
// with a *Refusal if there is no room for it.
func (q *quota) admit(id, caller string, n int64, expires time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	if why := q.full(caller, n); why != "" {
		return &task.Refusal{Err: ErrTooMuchKept, Reason: why}
	}
	q.put(&kept{id: id, caller: caller, bytes: n, held: n, expires: expires})
	return nil
}

// full returns which bound keeps a caller from making a task with n bytes of arguments, ""
// if none does. The caller has the lock.
func (q *quota) full(caller string, n int64) string {
	own, b := q.by[caller], q.bounds
	size := n + recordSize
	switch {
	case b.TasksPerCaller > 0 && own.tasks >= b.TasksPerCaller:
		return "caller_kept_tasks"
	case b.BytesPerCaller > 0 && own.bytes+size > b.BytesPerCaller/4*3:
		return "caller_kept"
	case b.HeldPerCaller > 0 && own.held > 0 && own.held+n > b.HeldPerCaller:
		return "caller_held"
	case !q.fits(caller, int64(own.tasks+1), int64(q.all.tasks+1), int64(b.Tasks), int64(b.Tasks)/2):
		return "kept_tasks"
	case !q.fits(caller, own.bytes+size, q.all.bytes+size, b.Bytes, b.Bytes/2):
		return "kept"
	case !q.fits(caller, own.held+n, q.all.held+n, b.Held, b.Held/2):
		return "held"
	}
	return ""
}

// fits reports whether a caller may have own, and with it all callers all, of most: anybody
// while they have no more than free, and else who has less than an even share. 0 is any number.
func (q *quota) fits(caller string, own, all, most, free int64) bool {
	callers := int64(len(q.by))
	if q.by[caller].tasks == 0 {
		callers++
	}
	return most == 0 || all <= free || own <= most/callers && all <= most+most/2
}

// count counts a task that stands, whether there is room for it or not.
func (q *quota) count(id, caller string, bytes, held int64, expires time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.tasks[id]; k != nil {
		q.resize(k, max(k.bytes, bytes), held)
		return
	}
	q.put(&kept{id: id, caller: caller, bytes: bytes, held: held, expires: expires})
}

// take has a task keep n bytes in place of what it kept, and reports whether there was room
// for that.
func (q *quota) take(id string, n int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	k := q.tasks[id]
	if k == nil {
		return true
	}
	if !q.mayKeep(k, n) {
		return false
	}
	q.resize(k, n, k.held)
	return true
}

// takeHeld is take for a task of which this process is to hold so many bytes besides.
func (q *quota) takeHeld(id string, n, held int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	k := q.tasks[id]
	if k == nil {
		return true
	}
	if !q.mayKeep(k, n) || !q.mayHold(k, held) {
		return false
	}
	q.resize(k, n, held)
	return true
}

// mayKeep reports whether there is room for a task to keep n bytes. The caller has the lock.
func (q *quota) mayKeep(k *kept, n int64) bool {
	more, own, b := n-k.bytes, q.by[k.caller], q.bounds
	return n <= smallOutcome || more <= 0 ||
		(b.BytesPerCaller == 0 || own.bytes+more <= b.BytesPerCaller) && q.fits(k.caller, own.bytes+more, q.all.bytes+more, b.Bytes, b.Bytes)
}

// mayHold reports whether there is room for n bytes of a task to be held. What its caller alone
// bounds leaves his only call alone. The caller has the lock.
func (q *quota) mayHold(k *kept, n int64) bool {
	more, own, b := n-k.held, q.by[k.caller], q.bounds
	return more <= 0 ||
		(b.HeldPerCaller == 0 || own.held == k.held || own.held+more <= b.HeldPerCaller) && q.fits(k.caller, own.held+more, q.all.held+more, b.Held, b.Held/2)
}

// recount notes what a task keeps and holds now, unless its call is not held any more.
func (q *quota) recount(id string, bytes, held int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.tasks[id]; k != nil && k.held > 0 {
		q.resize(k, bytes, held)
	}
}

// letGo notes that the call of a task is not held any more.
func (q *quota) letGo(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.tasks[id]; k != nil {
		q.resize(k, k.bytes, 0)
	}
}

// drop gives back what a task keeps that is not there any more, or that another berth
// counts.
func (q *quota) drop(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.tasks[id]; k != nil {
		q.remove(k)
	}
}

func (q *quota) has(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.tasks[id] != nil
}

// total is what is kept in all.
func (q *quota) total() usage {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expire(time.Now())
	return q.all
}

// aboveEven reports whether a caller keeps at least an even share of the bytes that all keep.
func (q *quota) aboveEven(caller string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.by[caller].bytes
	return own > 0 && own*int64(len(q.by)) >= q.all.bytes
}

// expire gives back what tasks kept that have expired. The caller has the lock, as of all
// that follow.
func (q *quota) expire(now time.Time) {
	for len(q.queue) > 0 && !q.queue[0].expires.After(now) {
		q.remove(q.queue[0])
	}
}

func (q *quota) put(k *kept) {
	q.tasks[k.id] = k
	heap.Push(&q.queue, k)
	q.add(k.caller, usage{1, k.bytes + recordSize, k.held})
}

func (q *quota) resize(k *kept, bytes, held int64) {
	q.add(k.caller, usage{0, bytes - k.bytes, held - k.held})
	k.bytes, k.held = bytes, held
}

func (q *quota) remove(k *kept) {
	delete(q.tasks, k.id)
	heap.Remove(&q.queue, k.place)
	q.add(k.caller, usage{-1, -k.bytes - recordSize, -k.held})
}

func (q *quota) add(caller string, more usage) {
	own := q.by[caller].plus(more)
	if q.all = q.all.plus(more); own.tasks == 0 {
		delete(q.by, caller)
		return
	}
	q.by[caller] = own
}

func (u usage) plus(more usage) usage {
	return usage{u.tasks + more.tasks, u.bytes + more.bytes, u.held + more.held}
}

// expiring is a heap of what is kept, what expires first on top.
type expiring []*kept

func (e expiring) Len() int           { return len(e) }
func (e expiring) Less(i, j int) bool { return e[i].expires.Before(e[j].expires) }
func (e expiring) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].place, e[j].place = i, j
}

// Push implements heap.Interface.
func (e *expiring) Push(x any) {
	k := x.(*kept)
	k.place = len(*e)
	*e = append(*e, k)
}

// Pop implements heap.Interface.
func (e *expiring) Pop() any {
	last := len(*e) - 1
	k := (*e)[last]
	(*e)[last] = nil
	*e = (*e)[:last]
	return k
}
