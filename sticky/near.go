package sticky

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// near is the cache in front of a shared store. A nil *near holds nothing.
type near struct {
	cache *lru.Cache[string, nearEntry]
}

type nearEntry struct {
	binding   Binding
	expires   time.Time // when the entry is to be looked up anew
	refreshed time.Time // when the store's expiry was last extended from here
}

func newNear(size int) *near {
	if size <= 0 {
		return nil
	}
	cache, err := lru.New[string, nearEntry](size)
	if err != nil {
		// New fails for sizes below one only.
		panic(err)
	}
	return &near{cache}
}

func (n *near) get(key string) (nearEntry, bool) {
	if n == nil {
		return nearEntry{}, false
	}
	e, ok := n.cache.Get(key)
	if ok && time.Now().After(e.expires) {
		n.cache.Remove(key)
		return nearEntry{}, false
	}
	return e, ok
}

func (n *near) add(key string, e nearEntry) {
	if n != nil {
		n.cache.Add(key, e)
	}
}

func (n *near) remove(key string) {
	if n != nil {
		n.cache.Remove(key)
	}
}
