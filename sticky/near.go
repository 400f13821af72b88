package sticky

import (
	"sync"
	"time"

	"berth/internal/recent"
)

// near is the cache in front of the store: the bindings that were read or written last.
// A nil *near holds nothing.
type near struct {
	most  int
	mu    sync.Mutex // guards the field below
	cache *recent.Table[bound]
}

func newNear(size int) *near {
	if size <= 0 {
		return nil
	}
	return &near{most: size, cache: recent.New[bound]()}
}

// find returns where the binding of key stands. The caller has the lock.
func (n *near) find(key *Key, hash uint32) recent.Place {
	return n.cache.Find(hash, func(b *bound) bool { return b.is(key) })
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
	hash := key.hash()
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.find(key, hash)
	if at == 0 {
		return false
	}
	found := n.cache.At(at)
	if time.Now().After(found.expires.time()) {
		if !peeks {
			n.cache.Remove(at)
		}
		return false
	}
	if !peeks {
		n.cache.Use(at)
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
	hash := key.hash()
	n.mu.Lock()
	defer n.mu.Unlock()
	at := n.find(key, hash)
	if at != 0 && may != nil {
		var standing Binding
		if n.cache.At(at).fill(&standing); !may(standing) {
			return
		}
	}
	switch {
	case !fits && at != 0:
		n.cache.Remove(at)
	case fits && at != 0:
		n.cache.At(at).kept = *next
		n.cache.Use(at)
	case fits:
		n.room(hash).keep(key, next)
	}
}

// room is where a binding of that hash is to be kept that is not yet, in the place of the oldest one if it must. The caller has the lock.
func (n *near) room(hash uint32) *bound {
	if n.cache.Len() == n.most {
		n.cache.Remove(n.cache.Oldest())
	}
	return n.cache.At(n.cache.Add(hash))
}

func (n *near) remove(key Key) {
	if n == nil {
		return
	}
	hash := key.hash()
	n.mu.Lock()
	defer n.mu.Unlock()
	if at := n.find(&key, hash); at != 0 {
		n.cache.Remove(at)
	}
}
