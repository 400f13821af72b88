package sticky

import (
	"sync"
	"sync/atomic"
)

// pending holds the bindings that the store has not taken yet: made while it was
// away, to be written back when it returns. They count as bound in this process.
type pending struct {
	count   atomic.Int64 // of entries: a look-up takes no lock while there are none
	mu      sync.Mutex   // guards the field below
	entries map[Key]entry
}

// maxPending bounds what an outage may pile up, in bindings (some 300 bytes each).
// Beyond it a binding lives in the near cache only.
const maxPending = 200_000

func (p *pending) get(key Key) (binding Binding, ok bool) {
	ok = p.find(&key, &binding)
	return binding, ok
}

// find is get into what the caller has.
func (p *pending) find(key *Key, into *Binding) bool {
	if p.count.Load() == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.entries[*key]
	if ok {
		*into = e.binding
	}
	return ok
}

// add keeps e unless its key is bound already, by a binding that it does not replace, and reports whether that
// is not to another upstream.
func (p *pending) add(e entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have, ok := p.entries[e.key]; ok && !e.replaces(have.binding) {
		return have.binding.Upstream == e.binding.Upstream
	}
	if p.entries == nil {
		p.entries = make(map[Key]entry)
	}
	if len(p.entries) < maxPending {
		p.entries[e.key] = e
		p.count.Store(int64(len(p.entries)))
	}
	return true
}

// swap puts e in the place of what is pending under its key, or nothing if e is nil, if
// may allows it; a nil may allows any. false: nothing is pending, or something else.
func (p *pending) swap(key Key, may func(Binding) bool, e *entry) bool {
	if p.count.Load() == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	have, ok := p.entries[key]
	if !ok || may != nil && !may(have.binding) {
		return false
	}
	if e == nil {
		delete(p.entries, key)
	} else {
		p.entries[key] = *e
	}
	p.count.Store(int64(len(p.entries)))
	return true
}

func (p *pending) remove(key Key) { p.swap(key, nil, nil) }

// settle forgets e, unless it was amended or removed since it was read, and reports whether it did.
func (p *pending) settle(e entry) bool {
	return p.swap(e.key, func(have Binding) bool { return have == e.binding }, nil)
}

// some returns at most n entries, any.
func (p *pending) some(n int) []entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	return someOf(p.entries, n)
}

// of counts those of an upstream that is counted for them.
func (p *pending) of(pool, upstream string) (n int) {
	if p.len() == 0 {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, e := range p.entries {
		if key.Kind.Counted() && key.Pool == pool && e.binding.Upstream == upstream {
			n++
		}
	}
	return n
}

func (p *pending) len() int { return int(p.count.Load()) }
