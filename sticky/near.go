package sticky

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// near is the cache in front of the store: the bindings that were read or written last, decoded.
// A nil *near holds nothing.
type near struct {
	mu    sync.Mutex                       // guards the field below
	cache *simplelru.LRU[string, *Binding] // what it points to does not change
}

func newNear(size int) *near {
	if size <= 0 {
		return nil
	}
	cache, err := simplelru.NewLRU[string, *Binding](size, nil)
	if err != nil {
		panic(err) // for sizes below one only
	}
	return &near{cache: cache}
}

// get returns a binding that has not expired. One that has may live on in the
// store, extended by another berth: the store is to be asked.
func (n *near) get(name string) (Binding, bool) {
	if n == nil {
		return Binding{}, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	binding, ok := n.cache.Get(name)
	if !ok {
		return Binding{}, false
	}
	if time.Now().After(binding.Expires) {
		n.cache.Remove(name)
		return Binding{}, false
	}
	return *binding, true
}

func (n *near) add(e entry) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cache.Add(e.name, &e.binding)
}

// refresh is add, unless another owner stands there by now: a session was moved meanwhile.
func (n *near) refresh(e entry) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if have, ok := n.cache.Peek(e.name); ok && !e.agrees(*have) && !have.yieldsTo(e.binding) {
		return
	}
	n.cache.Add(e.name, &e.binding)
}

func (n *near) remove(name string) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cache.Remove(name)
}
