package ordered

import (
	"iter"
	"slices"
	"sort"
)

// most is how many elements a block has at most: so many are moved by a change.
const most = 512

// List is a list in the order of compare. Elements are told apart by it too: two that compare
// as equal stand in the order in which they came, and Remove takes the first of them.
type List[T any] struct {
	compare func(a, b T) int
	blocks  [][]T // none is empty
	size    int
}

// New returns an empty list.
func New[T any](compare func(a, b T) int) *List[T] { return &List[T]{compare: compare} }

// Of returns a list of elements that are in order already. It keeps the slice.
func Of[T any](compare func(a, b T) int, sorted []T) *List[T] {
	l := &List[T]{compare: compare, size: len(sorted)}
	for block := range slices.Chunk(sorted, most/2) {
		l.blocks = append(l.blocks, block)
	}
	return l
}

// Len is how many elements there are.
func (l *List[T]) Len() int { return l.size }

// Insert puts x behind those that it does not come before.
func (l *List[T]) Insert(x T) {
	l.size++
	if len(l.blocks) == 0 {
		l.blocks = append(l.blocks, []T{x})
		return
	}
	b := len(l.blocks) - 1
	at := len(l.blocks[b])
	if l.compare(l.blocks[b][at-1], x) > 0 { // else it is behind all, as it is in most lists
		b, at = l.find(func(e T) bool { return l.compare(e, x) > 0 })
	}
	block := slices.Insert(l.blocks[b], at, x)
	l.blocks[b] = block
	if len(block) > most {
		half := l.half(at)
		l.blocks = slices.Insert(l.blocks, b+1, slices.Clone(block[half:]))
		clear(block[half:])
		l.blocks[b] = block[:half]
	}
}

// half is where a full block is parted that grew at that place. One that grows at its end stays
// full: most lists grow there alone.
func (l *List[T]) half(grew int) int {
	if grew == most {
		return most
	}
	return most / 2
}

// Remove takes x off the list, and reports whether it was there.
func (l *List[T]) Remove(x T) bool {
	b, at := l.find(func(e T) bool { return l.compare(e, x) >= 0 })
	if b == len(l.blocks) || l.compare(l.blocks[b][at], x) != 0 {
		return false
	}
	l.size--
	l.blocks[b] = slices.Delete(l.blocks[b], at, at+1)
	switch left := len(l.blocks[b]); {
	case left == 0:
		l.blocks = slices.Delete(l.blocks, b, b+1)
	case b+1 < len(l.blocks) && left+len(l.blocks[b+1]) <= most/2:
		l.blocks[b] = append(l.blocks[b], l.blocks[b+1]...)
		l.blocks = slices.Delete(l.blocks, b+1, b+2)
	}
	return true
}

// Place is how many elements come before x, whether it is there or not.
func (l *List[T]) Place(x T) int {
	return l.Search(func(e T) bool { return l.compare(e, x) >= 0 })
}

// Search returns the first place whose element is as wanted, the length of the list if none is.
// All behind one that is must be so, too.
func (l *List[T]) Search(wanted func(e T) bool) int {
	b, place := l.find(wanted)
	for _, block := range l.blocks[:b] {
		place += len(block)
	}
	return place
}

// find returns the block of the first element that is as wanted, and its place there; the
// number of blocks if none is.
func (l *List[T]) find(wanted func(e T) bool) (block, at int) {
	block = sort.Search(len(l.blocks), func(i int) bool { return wanted(l.blocks[i][len(l.blocks[i])-1]) })
	if block < len(l.blocks) {
		in := l.blocks[block]
		at = sort.Search(len(in), func(i int) bool { return wanted(in[i]) })
	}
	return block, at
}

// From are the elements from a place on, with their places. The list must not change meanwhile.
func (l *List[T]) From(place int) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		first := 0
		for _, block := range l.blocks {
			for i := max(place-first, 0); i < len(block); i++ {
				if !yield(first+i, block[i]) {
					return
				}
			}
			first += len(block)
		}
	}
}

// At returns the element at a place, which there must be.
func (l *List[T]) At(place int) T {
	for _, block := range l.blocks {
		if place < len(block) {
			return block[place]
		}
		place -= len(block)
	}
	panic("ordered: no such place")
}
