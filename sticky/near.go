package sticky

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// near is the cache in front of the store: the bindings that were read or written last.
// A nil *near holds nothing.
type near struct {
	mu    sync.Mutex // guards the field below
	cache *simplelru.LRU[Key, kept]
}

func newNear(size int) *near {
	if size <= 0 {
		return nil
	}
	cache, _ := simplelru.NewLRU[Key, kept](size, nil) // fails for sizes below one only
	return &near{cache: cache}
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
	n.mu.Lock()
	defer n.mu.Unlock()
	var k kept
	var ok bool
	if peeks {
		k, ok = n.cache.Peek(*key)
	} else {
		k, ok = n.cache.Get(*key)
	}
	if !ok {
		return false
	}
	if time.Now().After(k.expires.time()) {
		if !peeks {
			n.cache.Remove(*key)
		}
		return false
	}
	k.fill(into)
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
	key, next, fits := keep(e.key, &e.binding)
	n.mu.Lock()
	defer n.mu.Unlock()
	if may != nil {
		if have, ok := n.cache.Peek(e.key); ok {
			var standing Binding
			if have.fill(&standing); !may(standing) {
				return
			}
		}
	}
	if !fits {
		n.cache.Remove(e.key)
		return
	}
	n.cache.Add(key, next)
}

func (n *near) remove(key Key) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cache.Remove(key)
}
