package buffer

import "sync"

// Size is what borrowed memory has, in bytes: a usual head, or an answer with its head, fits.
const Size = 4 << 10

// Memory is what is borrowed.
type Memory [Size]byte

var pool = sync.Pool{New: func() any { return new(Memory) }}

// Borrow returns memory, which bears what its last borrower left in it.
func Borrow() *Memory { return pool.Get().(*Memory) }

// GiveBack returns memory that nobody uses any more.
func GiveBack(m *Memory) { pool.Put(m) }
