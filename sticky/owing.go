package sticky

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
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

// payBackAtOnce is how many are looked at together.
const payBackAtOnce = 512

// payBack lists what is owed, until the store refuses one.
func (b *Bindings) payBack(ctx context.Context) {
	if b.owing.count.Load() == 0 || !b.store.Healthy() {
		return
	}
	for {
		some := b.owing.some(payBackAtOnce)
		if len(some) == 0 {
			return
		}
		for _, e := range some {
			if time.Now().UnixMilli() >= e.binding.Until {
				b.owing.settle(e.key)
				continue
			}
			if err := b.store.KeepMembers(ctx, rollOf(e.key, e.binding.Upstream).list(), e.member(e.key.digest())); err != nil {
				return
			}
			b.owing.settle(e.key)
		}
	}
}
