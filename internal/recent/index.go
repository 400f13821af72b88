package recent

// enter has a place be found by its hash.
func (t *Table[T]) enter(s slot) {
	mask := uint32(len(t.index) - 1)
	in := s.hash & mask
	for t.index[in].at != 0 {
		in = (in + 1) & mask
	}
	t.index[in] = s
}

// leave has a place be found no more, and those behind it move up that would not be, either.
func (t *Table[T]) leave(at Slot, hash uint32) {
	mask := uint32(len(t.index) - 1)
	in := hash & mask
	for t.index[in].at != at {
		in = (in + 1) & mask
	}
	for next := (in + 1) & mask; t.index[next].at != 0; next = (next + 1) & mask {
		if s := t.index[next]; (next-s.hash)&mask >= (next-in)&mask {
			t.index[in], in = s, next
		}
	}
	t.index[in] = slot{}
}

func (t *Table[T]) grow() {
	before := t.index
	t.index = make([]slot, 2*len(before))
	for _, s := range before {
		if s.at != 0 {
			t.enter(s)
		}
	}
}
