package coretasks

import (
	"slices"

	lru "github.com/hashicorp/golang-lru/v2"
)

// nearNotes are what a berth knows itself of what tasks have asked: a store that is flushed loses no question, nor does one that takes no
// writes, since a server asks once.
type nearNotes struct{ cache *lru.Cache[string, []note] }

const (
	nearTasks = 1000     // of as many tasks
	nearBytes = 64 << 10 // of questions of one: of more, the store alone knows
)

func newNearNotes() nearNotes {
	cache, _ := lru.New[string, []note](nearTasks) // it fails for sizes below one only
	return nearNotes{cache}
}

// keep notes what stands under a key, and reports whether it does.
func (n nearNotes) keep(key string, notes []note) bool {
	size := 0
	for _, one := range notes {
		size += len(one.Request)
	}
	if size > nearBytes {
		n.cache.Remove(key)
		return false
	}
	n.cache.Add(key, slices.Clone(notes))
	return true
}

// add adds to what the store says what is known here. lost reports whether the store does not have all of it.
func (n nearNotes) add(key string, stored []note) (notes []note, lost bool) {
	known, _ := n.cache.Get(key)
	for _, one := range known {
		switch at := slices.IndexFunc(stored, func(other note) bool { return other.Key == one.Key }); {
		case at < 0:
			notes, lost = append(notes, one), true
		case one.Settled && !stored[at].Settled:
			stored[at], lost = one, true
		}
	}
	return append(notes, stored...), lost
}
