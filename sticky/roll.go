package sticky

import (
	"sync"
	"time"

	"berth/internal/storage"
)

// rollKey names the list of what an upstream owns of a kind.
type rollKey struct {
	kind           Kind
	pool, upstream string
}

func rollOf(key Key, upstream string) rollKey { return rollKey{key.Kind, key.Pool, upstream} }

// list is the list's name in the store. It tells neither pool nor upstream.
func (k rollKey) list() string {
	return "owned:" + Key{Kind: k.kind, Pool: k.pool, ID: k.upstream}.digest()
}

// counted reports whether what keys of a kind name is owned.
func (k Kind) counted() bool { return k == Task || k == Session }

// member is e's place in its owner's list from now on, by the name of its binding. Stores count whole milliseconds.
func (e *entry) member(name string, now time.Time) storage.Member {
	return storage.Member{Name: name, Left: time.Duration(max(e.binding.Until-now.UnixMilli(), 1)) * time.Millisecond}
}

// rollNames are the names of lists that were made once. The zero value knows none.
type rollNames struct {
	mu    sync.RWMutex // guards the field below
	known map[rollKey]string
}

func (n *rollNames) of(key rollKey) string {
	n.mu.RLock()
	name, ok := n.known[key]
	n.mu.RUnlock()
	if ok {
		return name
	}
	name = key.list()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.known == nil {
		n.known = make(map[rollKey]string)
	}
	n.known[key] = name
	return name
}
