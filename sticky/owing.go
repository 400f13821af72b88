package sticky

import (
	"sync"
	"sync/atomic"
)

// owing are bindings that stand in the store and not in their owners' lists. The zero value has
// none.
type owing struct {
	count   atomic.Int64 // of entries
	mu      sync.Mutex   // guards the field below
	entries map[Key]entry
}

func (o *owing) add(e entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.entries == nil {
		o.entries = make(map[Key]entry)
	}
	if len(o.entries) < maxPending {
		o.entries[e.key] = e
	}
	o.count.Store(int64(len(o.entries)))
}

// settle forgets what key names: it is listed, or owned by nobody.
func (o *owing) settle(key Key) {
	if o.count.Load() == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.entries, key)
	o.count.Store(int64(len(o.entries)))
}

// of counts what is owed to an upstream's lists.
func (o *owing) of(pool, upstream string) (n int) {
	if o.count.Load() == 0 {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for key, e := range o.entries {
		if key.Pool == pool && e.binding.Upstream == upstream {
			n++
		}
	}
	return n
}

// some returns at most n entries, any.
func (o *owing) some(n int) (out []entry) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.entries {
		if len(out) == n {
			break
		}
		out = append(out, e)
	}
	return out
}
