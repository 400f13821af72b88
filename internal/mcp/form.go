package mcp

import (
	"bytes"
	"sync/atomic"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
)

// form is a message as one was read before, but for gaps, in which it differs from the next. What was read of such bytes is read
// of the same bytes again, without a look at what they say. It holds nothing that stands in a gap.
type form struct {
	gaps gaps
	runs [maxGaps]string // what stands before each gap, from the one before on
	rest string          // what stands behind the last one
}

// gap is the value of a member that differs from one message to the next.
type gap struct {
	member   jsonobject.Set
	depth    int32 // of the objects that it stands in
	from, to int32 // where
	plain    bool  // it is a string, or has strings, of ASCII without a backslash
}

// maxGaps is how many gaps a form has at most.
const maxGaps = 6

// gaps are those of one message.
type gaps struct {
	of    [maxGaps]gap
	count int // how many there are, of which no more than maxGaps are told
}

// add notes the value of a member that s has just passed over.
func (g *gaps) add(s *jsonscan.Scanner, member jsonobject.Set, value []byte) {
	if g.count < maxGaps {
		g.of[g.count] = gap{member, int32(s.Depth()), int32(s.At() - len(value)), int32(s.At()), s.IsPlain()}
	}
	g.count++
}

// value is what stands in a gap of text.
func (g *gap) value(text []byte) []byte { return text[g.from:g.to:g.to] }

// maxForm is how long a form is that is kept, at most.
const maxForm = 1 << 10

// formOf is that of text with these gaps; ok is false if it is not to be kept.
func formOf(text []byte, g *gaps) (f form, ok bool) {
	if g.count == 0 || g.count > maxGaps || g.around(text) > maxForm {
		return form{}, false
	}
	from, ok := 0, true
	for i := range g.count {
		run := text[from:g.of[i].from]
		f.runs[i], ok = string(run), ok && jsonscan.IsPlain(run)
		from = int(g.of[i].to)
	}
	f.gaps, f.rest = *g, string(text[from:])
	return f, ok && jsonscan.IsPlain(text[from:])
}

// around is how much of text stands in none of them.
func (g *gaps) around(text []byte) int {
	size := len(text)
	for i := range g.count {
		size -= int(g.of[i].to - g.of[i].from)
	}
	return size
}

// fits reports whether the text that s is before has this form, and finds its gaps.
func (f *form) fits(s *jsonscan.Scanner, found *gaps) bool {
	for i := range f.gaps.count {
		g := &f.gaps.of[i]
		if !s.Into(f.runs[i], int(g.depth)) {
			return false
		}
		value := s.Value()
		if value == nil {
			return false
		}
		found.add(s, g.member, value)
	}
	return s.Again(f.rest) && s.End()
}

// alike are the forms that are known of messages which begin alike, the last first: clients and servers differ.
type alike[T any] [4]*T

// those are the forms that are known in a place.
func those[T any](place *atomic.Pointer[alike[T]]) []*T {
	all := place.Load()
	if all == nil {
		return nil
	}
	n := 0
	for n < len(all) && all[n] != nil {
		n++
	}
	return all[:n]
}

// remember has one stand first among those that are known in a place.
func remember[T any](place *atomic.Pointer[alike[T]], one *T) {
	now := &alike[T]{one}
	if before := place.Load(); before != nil {
		copy(now[1:], before[:])
	}
	place.Store(now)
}

// hasRoom reports whether another one may be remembered there.
func hasRoom[T any](m *memory[alike[T]], place *atomic.Pointer[alike[T]]) bool {
	before := place.Load()
	return before == nil || before[len(before)-1] == nil || m.isFree(place)
}

// wordsBehind are those that stand behind a mark near the beginning of a message.
func wordsBehind(mark, data []byte) (one, other uint64) {
	const near = 64
	at := bytes.Index(data[:min(len(data), near)], mark) + len(mark)
	return wordAt(data, at), wordAt(data, at+8)
}
