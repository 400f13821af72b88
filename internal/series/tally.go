package series

import (
	"sync"
	"sync/atomic"
)

// Tally counts by word, for who asks this process: counters of metrics cannot be read. The zero value is
// ready, and a nil Tally counts nothing. Its methods may be called concurrently. Words are berth's own, and
// few: nothing bounds them.
type Tally struct{ counts sync.Map } // of *atomic.Int64, by word

// Add counts one more.
func (t *Tally) Add(word string) {
	if t == nil {
		return
	}
	count, known := t.counts.Load(word)
	if !known {
		count, _ = t.counts.LoadOrStore(word, new(atomic.Int64))
	}
	count.(*atomic.Int64).Add(1)
}

// Of is how often these words were counted.
func (t *Tally) Of(words ...string) (n int64) {
	if t == nil {
		return 0
	}
	for _, word := range words {
		if count, known := t.counts.Load(word); known {
			n += count.(*atomic.Int64).Load()
		}
	}
	return n
}
