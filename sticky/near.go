package sticky

import (
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// near is the cache in front of the store: the bindings that were read or written last, decoded.
// A nil *near holds nothing.
type near struct {
	mu    sync.Mutex                    // guards the field below
	cache *simplelru.LRU[Key, *Binding] // what it points to does not change
}

func newNear(size int) *near {
	if size <= 0 {
		return nil
	}
	cache, _ := simplelru.NewLRU[Key, *Binding](size, nil) // fails for sizes below one only
	return &near{cache: cache}
}

// get returns a binding that has not expired. One that has may live on in the
// store, extended by another berth: the store is to be asked.
func (n *near) get(key Key) (Binding, bool) { return n.look(key, false) }

// look is get; one that only peeks changes nothing, not even what is forgotten next.
func (n *near) look(key Key, peeks bool) (Binding, bool) {
	if n == nil {
		return Binding{}, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var binding *Binding
	var ok bool
	if peeks {
		binding, ok = n.cache.Peek(key)
	} else {
		binding, ok = n.cache.Get(key)
	}
	if !ok {
		return Binding{}, false
	}
	if time.Now().After(binding.Expires) {
		if !peeks {
			n.cache.Remove(key)
		}
		return Binding{}, false
	}
	return *binding, true
}

func (n *near) add(e entry) { n.put(e, func(Binding) bool { return true }) }

// refresh is add, unless another owner stands there by now: a session was moved meanwhile.
func (n *near) refresh(e entry) {
	n.put(e, func(have Binding) bool { return e.agrees(have) || have.yieldsTo(e.binding) })
}

// put keeps e, unless a binding is kept that e may not replace.
func (n *near) put(e entry, may func(have Binding) bool) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	have, ok := n.cache.Peek(e.key)
	if ok && !may(*have) {
		return
	}
	if !ok { // a part of a long string would keep all of it
		e.key.Principal, e.key.ID = strings.Clone(e.key.Principal), strings.Clone(e.key.ID)
	}
	n.cache.Add(e.key, &e.binding)
}

func (n *near) remove(key Key) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cache.Remove(key)
}
