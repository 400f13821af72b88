package head

import "sync"

// lore is what a parser compares heads with, and its room for that.
type lore struct {
	known *known // nil: none was read since Stand
	spare *known // room for what is known next
	parts []part // of the head
}

// left is lore of parsers that stand. Where thousands stand, each would else have been taught what it has no use for.
var left sync.Pool

// leave leaves l to others.
func (l lore) leave() {
	if l.known == nil {
		return
	}
	if cap(l.parts) > mostLines {
		l.parts = nil
	}
	left.Put(&l)
}

// handedDown is lore that another parser has left, or new.
func handedDown() lore {
	if l, ok := left.Get().(*lore); ok {
		return *l
	}
	return newLore()
}

func newLore() lore {
	both := new([2]known)
	return lore{known: &both[0], spare: &both[1]}
}
