// Package fresh hands out values that nobody has had, made many at a time: for what is handed to others who may use it after its time,
// and so is never used again. It saves allocations, not memory, and a value that is kept keeps those that were made with it; so
// they are few and small, and point at little once their time is over.
package fresh

import "sync"

// Maker makes values.
type Maker[T any] struct {
	batch  int
	unused sync.Pool // of *[]T, some left in each
}

// New returns a maker of so many at a time.
func New[T any](batch int) *Maker[T] {
	return &Maker[T]{batch: batch, unused: sync.Pool{New: func() any { return new([]T) }}}
}

// Next returns a value that nobody has had. It may be called at any time.
func (m *Maker[T]) Next() *T {
	unused := m.unused.Get().(*[]T)
	if len(*unused) == 0 {
		*unused = make([]T, m.batch)
	}
	next := &(*unused)[0]
	*unused = (*unused)[1:]
	m.unused.Put(unused)
	return next
}
