package coretasks

import (
	"container/heap"
	"strings"
	"sync"
	"time"
)

const (
	// maxEnds bounds what one berth has put into the store of the ends of a pool's tasks, and has not run out, in bytes, and maxEndsOf what of it is
	// one caller's.
	maxEnds, maxEndsOf = 64 << 20, 16 << 20

	// endSize is what the store needs for an end beside what of it is sealed, in bytes.
	endSize = 256
)

// endShares are what callers have in the store of the ends of their tasks, by what this berth has put there. The zero value has none.
type endShares struct {
	mu    sync.Mutex // guards the fields below
	all   int64
	by    map[string]int64 // by caller
	queue expiringEnds
}

// keptEnd is an end that the store has.
type keptEnd struct {
	caller  string
	size    int64
	expires time.Time
}

// fits reports whether there is room for one more end of a caller's, of that size.
func (s *endShares) fits(caller string, size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for now := time.Now(); len(s.queue) > 0 && !s.queue[0].expires.After(now); {
		gone := heap.Pop(&s.queue).(keptEnd)
		s.add(gone.caller, -gone.size)
	}
	more := int64(size + endSize)
	return s.all+more <= maxEnds && s.by[caller]+more <= maxEndsOf
}

// put notes that the store has an end of a caller's, for life.
func (s *endShares) put(caller string, size int, life time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := keptEnd{strings.Clone(caller), int64(size + endSize), time.Now().Add(life)} // a part of a request would keep all of it
	s.add(k.caller, k.size)
	heap.Push(&s.queue, k)
}

// add counts so many bytes more. The caller has the lock.
func (s *endShares) add(caller string, bytes int64) {
	if s.by == nil {
		s.by = map[string]int64{}
	}
	s.all += bytes
	if s.by[caller] += bytes; s.by[caller] == 0 {
		delete(s.by, caller)
	}
}

// expiringEnds is a heap, what expires first on top.
type expiringEnds []keptEnd

func (e expiringEnds) Len() int           { return len(e) }
func (e expiringEnds) Less(i, j int) bool { return e[i].expires.Before(e[j].expires) }
func (e expiringEnds) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }

// Push implements heap.Interface.
func (e *expiringEnds) Push(x any) { *e = append(*e, x.(keptEnd)) }

// Pop implements heap.Interface.
func (e *expiringEnds) Pop() any {
	last := len(*e) - 1
	k := (*e)[last]
	(*e)[last] = keptEnd{}
	*e = (*e)[:last]
	return k
}
