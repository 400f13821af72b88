package quota

import (
	"container/heap"
	"time"
)

// Usage is what is kept, of a caller or of all.
type Usage struct {
	Tasks int
	Bytes int64
	Held  int64
}

// kept is what one task keeps. There is one for each that stands: what points to little costs the collector little.
type kept struct {
	*account // of its caller
	id       string
	bytes    int64 // beside the record
	held     int64
	expires  time.Time
	place    int // in the queue of those that expire
}

// account is what the tasks of a caller keep. It is there as long as there are some.
type account struct {
	caller string
	Usage
}

// expire gives back what tasks kept that have expired. The caller has the lock, as of all
// that follow.
func (q *Quota) expire(now time.Time) {
	for len(q.queue) > 0 && !q.queue[0].expires.After(now) {
		q.remove(q.queue[0])
	}
}

func (q *Quota) put(k *kept) {
	q.tasks[k.id] = k
	if k.Tasks == 0 {
		q.by[k.caller] = k.account
	}
	heap.Push(&q.queue, k)
	q.add(k.account, Usage{1, k.bytes + recordSize, k.held})
}

func (q *Quota) resize(k *kept, bytes, held int64) {
	q.add(k.account, Usage{0, bytes - k.bytes, held - k.held})
	k.bytes, k.held = bytes, held
}

func (q *Quota) remove(k *kept) {
	delete(q.tasks, k.id)
	heap.Remove(&q.queue, k.place)
	q.add(k.account, Usage{-1, -k.bytes - recordSize, -k.held})
}

// accountOf is the account of a caller, an empty one if it has none: put opens that.
func (q *Quota) accountOf(caller string) *account {
	if own := q.by[caller]; own != nil {
		return own
	}
	return &account{caller: caller}
}

// usage is what the tasks of a caller keep.
func (q *Quota) usage(caller string) Usage {
	if own := q.by[caller]; own != nil {
		return own.Usage
	}
	return Usage{}
}

func (q *Quota) add(own *account, more Usage) {
	q.all, own.Usage = q.all.plus(more), own.plus(more)
	if own.Tasks == 0 {
		delete(q.by, own.caller)
	}
}

func (u Usage) plus(more Usage) Usage {
	return Usage{u.Tasks + more.Tasks, u.Bytes + more.Bytes, u.Held + more.Held}
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
