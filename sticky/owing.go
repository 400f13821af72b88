package sticky

import (
	"sync"
	"sync/atomic"
)

// owing are bindings whose owners' lists do not have them as they are: as new ones, or as ones that count no more or are gone. The zero
// value has none.
type owing struct {
	count   atomic.Int64 // of entries
	mu      sync.Mutex   // guards the field below
	entries map[Key]entry
}

// add keeps e, in the place of what was owed of its key. What counts no more stays so.
func (o *owing) add(e entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.entries == nil {
		o.entries = make(map[Key]entry)
	}
	have, ok := o.entries[e.key]
	if ok && have.counts > max(e.counts, countsUntil) || !ok && len(o.entries) >= maxPending {
		return
	}
	o.entries[e.key] = e
	o.count.Store(int64(len(o.entries)))
}

// settle forgets what key names: its list has it as it is, or nobody owns it.
func (o *owing) settle(key Key) { o.forget(key, func(entry) bool { return true }) }

// paid forgets e, unless more is owed since it was read.
func (o *owing) paid(e entry) { o.forget(e.key, func(have entry) bool { return have == e }) }

// revive forgets that key is gone.
func (o *owing) revive(key Key) {
	o.forget(key, func(have entry) bool { return have.counts == countsGone })
}

func (o *owing) forget(key Key, may func(have entry) bool) {
	if o.count.Load() == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if have, ok := o.entries[key]; ok && may(have) {
		delete(o.entries, key)
		o.count.Store(int64(len(o.entries)))
	}
}

// of counts what an upstream's lists lack.
func (o *owing) of(pool, upstream string) (n int) {
	if o.count.Load() == 0 {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, e := range o.entries {
		if key.Pool == pool && e.binding.Upstream == upstream && e.counts < countsNoMore {
			n++
		}
	}
	return n
}

// some returns at most n entries, any.
func (o *owing) some(n int) []entry {
	o.mu.Lock()
	defer o.mu.Unlock()
	return someOf(o.entries, n)
}
