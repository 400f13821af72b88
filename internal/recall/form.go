package recall

import (
	"bytes"
	"sync/atomic"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
)

// Form is a message as one was read before, but for gaps, in which it differs from the next. What was read of such bytes is read
// of the same bytes again, without a look at what they say. It holds nothing that stands in a gap.
type Form struct {
	gaps Gaps
	runs [maxGaps]string // what stands before each gap, from the one before on
	rest string          // what stands behind the last one
}

// Gap is the value of a member that differs from one message to the next.
type Gap struct {
	Member   jsonobject.Set
	Depth    int32 // of the objects that it stands in
	From, To int32 // where
	Plain    bool  // it is a string, or has strings, of ASCII without a backslash
}

// maxGaps is how many gaps a form has at most.
const maxGaps = 6

// Gaps are those of one message.
type Gaps struct {
	Of    [maxGaps]Gap
	Count int // how many there are, of which no more than maxGaps are told
}

// Add notes the value of a member that s has just passed over.
func (g *Gaps) Add(s *jsonscan.Scanner, member jsonobject.Set, value []byte) {
	if g.Count < maxGaps {
		g.Of[g.Count] = Gap{member, int32(s.Depth()), int32(s.At() - len(value)), int32(s.At()), s.IsPlain()}
	}
	g.Count++
}

// Value is what stands in a gap of text.
func (g *Gap) Value(text []byte) []byte { return text[g.From:g.To:g.To] }

// MaxForm is how long a form is that is kept, at most.
const MaxForm = 1 << 10

// FormOf is that of text with these gaps; ok is false if it is not to be kept.
func FormOf(text []byte, g *Gaps) (f Form, ok bool) {
	if g.Count == 0 || g.Count > maxGaps || g.around(text) > MaxForm {
		return Form{}, false
	}
	from, ok := 0, true
	for i := range g.Count {
		run := text[from:g.Of[i].From]
		f.runs[i], ok = string(run), ok && jsonscan.IsPlain(run)
		from = int(g.Of[i].To)
	}
	f.gaps, f.rest = *g, string(text[from:])
	return f, ok && jsonscan.IsPlain(text[from:])
}

// around is how much of text stands in none of them.
func (g *Gaps) around(text []byte) int {
	size := len(text)
	for i := range g.Count {
		size -= int(g.Of[i].To - g.Of[i].From)
	}
	return size
}

// Fits reports whether the text that s is before has this form, and finds its gaps.
func (f *Form) Fits(s *jsonscan.Scanner, found *Gaps) bool {
	for i := range f.gaps.Count {
		g := &f.gaps.Of[i]
		if !s.Into(f.runs[i], int(g.Depth)) {
			return false
		}
		value := s.Value()
		if value == nil {
			return false
		}
		found.Add(s, g.Member, value)
	}
	return s.Again(f.rest) && s.End()
}

// Spot is a place in a run of a form.
type Spot struct{ run, at int }

// In is where the spot is in a text with these gaps.
func (s Spot) In(found *Gaps) int {
	if s.run == 0 {
		return s.at
	}
	return int(found.Of[s.run-1].To) + s.at
}

// SpotOf is where a place in a text with these gaps is.
func SpotOf(at int, g *Gaps) (s Spot) {
	for s.at = at; s.run < g.Count && int(g.Of[s.run].To) <= at; s.run++ {
		s.at = at - int(g.Of[s.run].To)
	}
	return s
}

// Alike are the forms that are known of messages which begin alike, the last first: clients and servers differ.
type Alike[T any] [4]*T

// Those are the forms that are known in a place.
func Those[T any](place *atomic.Pointer[Alike[T]]) []*T {
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

// Remember has one stand first among those that are known in a place.
func Remember[T any](place *atomic.Pointer[Alike[T]], one *T) {
	now := &Alike[T]{one}
	if before := place.Load(); before != nil {
		copy(now[1:], before[:])
	}
	place.Store(now)
}

// HasRoom reports whether another one may be remembered there.
func HasRoom[T any](m *Memory[Alike[T]], place *atomic.Pointer[Alike[T]]) bool {
	before := place.Load()
	return before == nil || before[len(before)-1] == nil || m.IsFree(place)
}

// WordsBehind are those that stand behind a mark near the beginning of a message.
func WordsBehind(mark, data []byte) (one, other uint64) {
	const near = 64
	at := bytes.Index(data[:min(len(data), near)], mark) + len(mark)
	return WordAt(data, at), WordAt(data, at+8)
}
