package sticky

import "sync"

// pending holds the bindings that the store has not taken yet: made while it was
// away, to be written back when it returns. They count as bound in this process.
type pending struct {
	mu      sync.Mutex // guards the field below
	entries map[string]Binding
}

// maxPending bounds what an outage may pile up, in bindings (some 300 bytes each).
// Beyond it a binding lives in the near cache only.
const maxPending = 200_000

func (p *pending) get(key string) (Binding, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, ok := p.entries[key]
	return b, ok
}

// add keeps b unless the key has an owner already, which it returns.
func (p *pending) add(key string, b Binding) (Binding, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have, ok := p.entries[key]; ok {
		return have, false
	}
	if p.entries == nil {
		p.entries = make(map[string]Binding)
	}
	if len(p.entries) < maxPending {
		p.entries[key] = b
	}
	return b, true
}

func (p *pending) remove(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.entries, key)
}

func (p *pending) snapshot() map[string]Binding {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]Binding, len(p.entries))
	for k, b := range p.entries {
		out[k] = b
	}
	return out
}

func (p *pending) len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.entries)
}
