package storage

import "time"

type entry struct {
	key     string // or the member
	record  Record
	list    *memoryList // of a member, else nil
	arrived uint64      // of a member: its number in the order of arrival
	expires time.Time   // zero: never
	place   int         // in the expiry queue; -1 if it never expires
}

func (e *entry) live(now time.Time) bool {
	return e.expires.IsZero() || now.Before(e.expires)
}

// expiryQueue is a container/heap of the entries that expire, the next one first.
type expiryQueue []*entry

// Len is the number of entries that will expire.
func (q expiryQueue) Len() int { return len(q) }

// Less puts the entry that expires first on top.
func (q expiryQueue) Less(i, j int) bool { return q[i].expires.Before(q[j].expires) }

// Swap exchanges two entries and tells them their places.
func (q expiryQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push appends an *entry, for container/heap.
func (q *expiryQueue) Push(x any) {
	e := x.(*entry)
	e.place = len(*q)
	*q = append(*q, e)
}

// Pop takes the last *entry off, for container/heap.
func (q *expiryQueue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	e.place = -1
	return e
}
