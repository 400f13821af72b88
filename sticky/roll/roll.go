package roll

import (
	"sync"

	"berth/sticky/binding"
)

// Key names the list of what an upstream owns of a kind.
type Key struct {
	Kind           binding.Kind
	Pool, Upstream string
}

// Of names the list that upstream has what key names in.
func Of(key binding.Key, upstream string) Key { return Key{key.Kind, key.Pool, upstream} }

// List is the list's name in the store. It tells neither pool nor upstream.
func (k Key) List() string {
	return "owned:" + binding.Key{Kind: k.Kind, Pool: k.Pool, ID: k.Upstream}.Digest()
}

// Names are the names of lists that were made once. The zero value knows none. Its methods may be called concurrently.
type Names struct {
	mu    sync.RWMutex // guards the field below
	known map[Key]string
}

// Of is key.List.
func (n *Names) Of(key Key) string {
	n.mu.RLock()
	name, ok := n.known[key]
	n.mu.RUnlock()
	if ok {
		return name
	}
	name = key.List()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil {
		n.known = make(map[Key]string)
	}
	n.known[key] = name
	return name
}
