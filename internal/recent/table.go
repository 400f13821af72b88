package recent

import "iter"

// Table holds values. It is its user's to lock.
//
// One that is used goes to the front only once as many were added since it was there as an eighth of them all, so that its
// neighbours in that order are seldom touched: of two that were used while an eighth of them all were added either may be
// forgotten first. Whoever forgets values for other reasons than what is added says itself when one is to go there.
type Table[T any] struct {
	pages []*[pageSize]node[T] // by place
	index []slot               // open addressing: by hash, or in one of the slots behind that
	used  int
	free  Slot   // the first of those without a value, each of which names the next as older; 0: none
	added uint32 // how many ever were, modulo 1<<32
}

// Slot is where a value stands until it is removed; 0 is none.
type Slot int32

// node is a value and its neighbours in the order of use. That of place 0 has none: it is the ends of the list.
type node[T any] struct {
	value        T
	hash         uint32
	added        uint32 // Table.added when it came to the front
	newer, older Slot
}

type slot struct {
	hash uint32
	at   Slot
}

const (
	pageSize   = 256
	firstIndex = 16
)

// New returns a table without values.
func New[T any]() *Table[T] {
	return &Table[T]{pages: []*[pageSize]node[T]{new([pageSize]node[T])}, index: make([]slot, firstIndex)}
}

// Len is how many values there are.
func (t *Table[T]) Len() int { return t.used }

// At is the value that stands at a place.
func (t *Table[T]) At(at Slot) *T { return &t.node(at).value }

func (t *Table[T]) node(at Slot) *node[T] { return &t.pages[at/pageSize][at%pageSize] }

// Find returns where the value stands that has this hash and of which is says so; 0: nowhere.
func (t *Table[T]) Find(hash uint32, is func(*T) bool) Slot {
	mask := uint32(len(t.index) - 1)
	for in := hash & mask; t.index[in].at != 0; in = (in + 1) & mask {
		if s := t.index[in]; s.hash == hash && is(t.At(s.at)) {
			return s.at
		}
	}
	return 0
}

// Use has a value be among those that were used last.
func (t *Table[T]) Use(at Slot) {
	if t.added-t.node(at).added >= uint32(t.used/8) {
		t.ToFront(at)
	}
}

// ToFront has a value be the one that was used last.
func (t *Table[T]) ToFront(at Slot) {
	n := t.node(at)
	t.unlink(n)
	t.link(at, n)
}

// Oldest is where the value stands that is to be forgotten first; 0: there is none.
func (t *Table[T]) Oldest() Slot { return t.node(0).newer }

// All are the values, the oldest first. The table must not change meanwhile.
func (t *Table[T]) All() iter.Seq2[uint32, *T] {
	return func(yield func(hash uint32, value *T) bool) {
		for at := t.Oldest(); at != 0; at = t.node(at).newer {
			if n := t.node(at); !yield(n.hash, &n.value) {
				return
			}
		}
	}
}

// Add makes room for a value, which is zero. There must be none that is the same for its user.
func (t *Table[T]) Add(hash uint32) Slot {
	if 2*(t.used+1) > len(t.index) {
		t.grow()
	}
	at := t.vacant()
	n := t.node(at)
	n.hash = hash
	t.enter(slot{hash, at})
	t.used++
	t.added++
	t.link(at, n)
	return at
}

// vacant takes a place that has no value.
func (t *Table[T]) vacant() Slot {
	if at := t.free; at != 0 {
		t.free = t.node(at).older
		return at
	}
	at := Slot(t.used + 1)
	if int(at)/pageSize == len(t.pages) {
		t.pages = append(t.pages, new([pageSize]node[T]))
	}
	return at
}

// Remove forgets the value that stands at a place.
func (t *Table[T]) Remove(at Slot) {
	n := t.node(at)
	t.leave(at, n.hash)
	t.unlink(n)
	*n = node[T]{older: t.free}
	t.free = at
	t.used--
}

func (t *Table[T]) link(at Slot, n *node[T]) {
	ends := t.node(0)
	n.newer, n.older, n.added = 0, ends.older, t.added
	t.node(ends.older).newer, ends.older = at, at
}

func (t *Table[T]) unlink(n *node[T]) {
	t.node(n.newer).older, t.node(n.older).newer = n.older, n.newer
}
