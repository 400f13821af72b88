package trouble

import (
	"slices"
	"sync"
	"time"
)

// Kind is one of the five.
type Kind uint8

// The kinds, in the order in which they are told.
const (
	Orphans      Kind = iota // tasks whose berth was found gone, whatever became of them
	HolderLost               // of these, those that failed for it
	UnknownIDs               // requests about ids that nobody knows
	Refusals                 // requests that berth turned away, unknown ids aside
	StoreOutages             // times that the store was lost
)

// Kinds are all of them.
var Kinds = []Kind{Orphans, HolderLost, UnknownIDs, Refusals, StoreOutages}

var names = [...]string{"orphans", "holder_lost", "unknown_ids", "refusals", "store_outages"}

// String is the kind's name.
func (k Kind) String() string { return names[k] }

// Named returns the kind of that name.
func Named(name string) (k Kind, ok bool) {
	at := slices.Index(names[:], name)
	return Kind(max(at, 0)), at >= 0
}

// Event is one occurrence. What is empty is not known, or none.
type Event struct {
	At     time.Time // zero: now
	Pool   string
	ID     string // of a task
	What   string // in one word, or a few
	Caller string // digest of the principal
	Detail string
}

// Count is how often something happened.
type Count struct {
	Total  int64     // since the log began
	Recent int64     // of the last five minutes, to within a slot
	Last   time.Time // zero: never
}

// Log remembers. The zero value is ready, and a nil Log notes nothing and tells of nothing. Its methods
// may be called concurrently.
type Log struct{ kinds [len(names)]kind }

// Note counts e as one of kind k, and remembers it.
func (l *Log) Note(k Kind, e Event) {
	if l == nil {
		return
	}
	if e.At.IsZero() {
		e.At = time.Now()
	}
	l.kinds[k].note(e)
}

// Count returns how often k happened.
func (l *Log) Count(k Kind) Count {
	if l == nil {
		return Count{}
	}
	return l.kinds[k].now(time.Now())
}

// Events returns the last events of k, the newest first.
func (l *Log) Events(k Kind) []Event {
	if l == nil {
		return nil
	}
	return l.kinds[k].events()
}

const (
	kept  = 200              // events of a kind
	slot  = 10 * time.Second // by which recent events are counted
	slots = int64(5 * time.Minute / slot)
)

// kind is what is remembered of one kind.
type kind struct {
	mu    sync.Mutex // guards the fields below
	total int64
	last  time.Time
	ring  []Event // of which next is the oldest, once it is full
	next  int
	slots [slots]struct{ number, n int64 } // by number modulo slots
}

func (k *kind) note(e Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total++
	k.last = e.At
	number := e.At.UnixNano() / int64(slot)
	s := &k.slots[number%slots]
	if s.number != number {
		s.number, s.n = number, 0
	}
	s.n++
	if len(k.ring) < kept {
		k.ring = append(k.ring, e)
		return
	}
	k.ring[k.next] = e
	k.next = (k.next + 1) % kept
}

func (k *kind) now(at time.Time) Count {
	k.mu.Lock()
	defer k.mu.Unlock()
	c, number := Count{Total: k.total, Last: k.last}, at.UnixNano()/int64(slot)
	for _, s := range k.slots {
		if s.number > number-slots && s.number <= number {
			c.Recent += s.n
		}
	}
	return c
}

func (k *kind) events() []Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := slices.Concat(k.ring[k.next:], k.ring[:k.next])
	slices.Reverse(all)
	return all
}
