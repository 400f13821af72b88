package recall

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
)

// Memory holds what was read of texts that come again, each in one place. Nothing but the same bytes is ever taken for one of
// them. It may be used concurrently.
type Memory[T any] struct {
	Places []atomic.Pointer[T] // that texts are kept in
	shift  int                 // leaves as many bits of a word as there are places
	missed atomic.Uint32
}

// New returns one with so many places, a power of two.
func New[T any](places int) Memory[T] {
	return Memory[T]{Places: make([]atomic.Pointer[T], places), shift: 64 - bits.TrailingZeros(uint(places))}
}

// missesOfOne is how often a text is not found until one is kept in another's place: what does not come again, or is made up,
// costs no memory.
const missesOfOne = 16

// Place is where a text is to be, by two words in which such texts differ.
func (m *Memory[T]) Place(one, other uint64) *atomic.Pointer[T] {
	const odd = 0x9e3779b97f4a7c15
	mixed := (one*odd ^ other) * odd
	return &m.Places[mixed>>m.shift]
}

// IsFree reports whether a text that was not found may be kept in its place.
func (m *Memory[T]) IsFree(place *atomic.Pointer[T]) bool {
	return place.Load() == nil || m.missed.Add(1)%missesOfOne == 0
}

// WordAt is the eight bytes of data from there on, 0 if there are not so many.
func WordAt(data []byte, at int) uint64 {
	if at < 0 || at > len(data)-8 {
		return 0
	}
	return binary.LittleEndian.Uint64(data[at:])
}
