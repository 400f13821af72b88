package sticky

import (
	"sync"
	"time"
)

// near is the cache in front of the store: the bindings that were read or written last.
// A nil *near holds nothing.
type near struct {
	mu    sync.Mutex // guards the field below
	cache *lru
}

func newNear(size int) *near {
	if size <= 0 {
		return nil
	}
	return &near{cache: newLRU(size)}
}

// get returns a binding that has not expired. One that has may live on in the
// store, extended by another berth: the store is to be asked.
func (n *near) get(key Key) (binding Binding, ok bool) {
	ok = n.look(&key, false, &binding)
	return binding, ok
}

// look is get into what the caller has; one that only peeks changes nothing, not even what is forgotten next.
func (n *near) look(key *Key, peeks bool, into *Binding) bool {
	if n == nil {
		return false
	}
	hash := n.cache.hash(key)
	n.mu.Lock()
	defer n.mu.Unlock()
	in, at := n.cache.find(key, hash)
	if at == 0 {
		return false
	}
	found := n.cache.node(at)
	if time.Now().After(found.expires.time()) {
		if !peeks {
			n.cache.remove(in, at)
		}
		return false
	}
	if !peeks {
		n.cache.touch(at)
	}
	found.fill(into)
	return true
}

func (n *near) add(e *entry) { n.put(e, nil) }

// refresh is add, unless another owner stands there by now: a session was moved meanwhile.
func (n *near) refresh(e *entry) {
	n.put(e, func(have Binding) bool { return e.agrees(have) || have.yieldsTo(e.binding) })
}

// put keeps e, unless a binding is kept that e may not replace; a nil may allows any. What is too long is not kept.
func (n *near) put(e *entry, may func(have Binding) bool) {
	if n == nil {
		return
	}
	next, fits := keep(&e.key, &e.binding)
	n.place(&e.key, &next, fits, may)
}

// keep keeps what was read.
func (n *near) keep(key *Key, next *kept) {
	if n != nil {
		n.place(key, next, true, nil)
	}
}

func (n *near) place(key *Key, next *kept, fits bool, may func(have Binding) bool) {
	hash := n.cache.hash(key)
	n.mu.Lock()
	defer n.mu.Unlock()
	in, at := n.cache.find(key, hash)
	if at != 0 && may != nil {
		var standing Binding
		if n.cache.node(at).fill(&standing); !may(standing) {
			return
		}
	}
	switch {
	case !fits && at != 0:
		n.cache.remove(in, at)
	case fits && at != 0:
		n.cache.node(at).kept = *next
		n.cache.touch(at)
	case fits:
		n.cache.add(key, hash, next)
	}
}

func (n *near) remove(key Key) {
	if n == nil {
		return
	}
	hash := n.cache.hash(&key)
	n.mu.Lock()
	defer n.mu.Unlock()
	if in, at := n.cache.find(&key, hash); at != 0 {
		n.cache.remove(in, at)
	}
}
