package near

import (
	"sync"
	"time"

	"berth/internal/recent"
	"berth/sticky/binding"
)

// Cache holds the bindings that were read or written last. A nil *Cache holds nothing. Its methods may be called concurrently.
type Cache struct {
	most  int
	mu    sync.Mutex // guards the field below
	cache *recent.Table[bound]
}

// New returns a cache of at most size bindings; 0: nil.
func New(size int) *Cache {
	if size <= 0 {
		return nil
	}
	return &Cache{most: size, cache: recent.New[bound]()}
}

// find returns where the binding of key stands. The caller has the lock.
func (c *Cache) find(key *binding.Key, hash uint32) recent.Slot {
	return c.cache.Find(hash, func(b *bound) bool { return b.is(key) })
}

// Get returns a binding that has not expired. One that has may live on in the
// store, extended by another berth: the store is to be asked.
func (c *Cache) Get(key binding.Key) (found binding.Binding, ok bool) {
	ok = c.Look(&key, false, &found)
	return found, ok
}

// Look is Get into what the caller has; one that only peeks changes nothing, not even what is forgotten next.
func (c *Cache) Look(key *binding.Key, peeks bool, into *binding.Binding) bool {
	if c == nil {
		return false
	}
	hash := hashOf(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.find(key, hash)
	if at == 0 {
		return false
	}
	found := c.cache.At(at)
	if time.Now().After(found.Expires()) {
		if !peeks {
			c.cache.Remove(at)
		}
		return false
	}
	if !peeks {
		c.cache.Use(at)
	}
	found.Fill(into)
	return true
}

// Put keeps what, which is bound to key, unless a binding is kept that it may not replace; a nil may allows any. What is too long is not kept.
func (c *Cache) Put(key *binding.Key, what *binding.Binding, may func(have binding.Binding) bool) {
	if c == nil {
		return
	}
	next, fits := binding.Pack(key, what)
	c.place(key, &next, fits, may)
}

// Keep keeps what was read.
func (c *Cache) Keep(key *binding.Key, next *binding.Packed) {
	if c != nil {
		c.place(key, next, true, nil)
	}
}

func (c *Cache) place(key *binding.Key, next *binding.Packed, fits bool, may func(have binding.Binding) bool) {
	hash := hashOf(key)
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.find(key, hash)
	if at != 0 && may != nil {
		var standing binding.Binding
		if c.cache.At(at).Fill(&standing); !may(standing) {
			return
		}
	}
	switch {
	case !fits && at != 0:
		c.cache.Remove(at)
	case fits && at != 0:
		c.cache.At(at).Packed = *next
		c.cache.Use(at)
	case fits:
		c.room(hash).keep(key, next)
	}
}

// room is where a binding of that hash is to be kept that is not yet, in the place of the oldest one if it must. The caller has the lock.
func (c *Cache) room(hash uint32) *bound {
	if c.cache.Len() == c.most {
		c.cache.Remove(c.cache.Oldest())
	}
	return c.cache.At(c.cache.Add(hash))
}

// Remove forgets what is bound to key.
func (c *Cache) Remove(key binding.Key) {
	if c == nil {
		return
	}
	hash := hashOf(&key)
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.find(&key, hash); at != 0 {
		c.cache.Remove(at)
	}
}
