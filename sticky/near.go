package sticky

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// near is the cache in front of a shared store. A nil *near holds nothing.
type near struct {
	cache *lru.Cache[string, Binding]
}

func newNear(size int) *near {
	if size <= 0 {
		return nil
	}
	cache, err := lru.New[string, Binding](size)
	if err != nil {
		// New fails for sizes below one only.
		panic(err)
	}
	return &near{cache}
}

// get returns a binding that has not expired. One that has may live on in the
// store, extended by another berth: the store is to be asked.
func (n *near) get(name string) (Binding, bool) {
	if n == nil {
		return Binding{}, false
	}
	binding, ok := n.cache.Get(name)
	if ok && time.Now().After(binding.Expires) {
		n.cache.Remove(name)
		return Binding{}, false
	}
	return binding, ok
}

func (n *near) add(e entry) {
	if n != nil {
		n.cache.Add(e.name, e.binding)
	}
}

func (n *near) remove(name string) {
	if n != nil {
		n.cache.Remove(name)
	}
}
