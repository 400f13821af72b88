package mcp

import (
	"bytes"
	"slices"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
	"berth/internal/recall"
)

// roundForm is what becomes of calls of one form in their first round: the same but for the gaps, and the token.
type roundForm struct {
	edits [maxEdits]roundEdit
	count int
	more  int // how much longer the message gets by what is put in, the token aside
}

// maxEdits is how many pieces of a message change in a form that is kept, at most.
const maxEdits = 6

// roundEdit is an edit of a message with gaps.
type roundEdit struct {
	from, to      recall.Spot
	before, after string // of what is put in, around the token
	token         bool   // it has that
}

// recallRound is Body of a first round where it is known what becomes of calls like original; nil: it is not. The form is that
// of original, nil if it has none.
func (r *Round) recallRound(original []byte) (body []byte, _ *callForm) {
	if r.ID != nil || r.ProgressToken == "" || r.WithoutTask || r.Answered { // a call with a task has no form either
		return nil, nil
	}
	for _, f := range recall.Those(placeOfCallForm(original)) {
		s, found := jsonscan.New(original), recall.Gaps{}
		if !f.Fits(&s, &found) {
			continue
		}
		if round := f.round.Load(); round != nil {
			var room [64]byte // for most tokens
			return round.apply(original, &found, jsonobject.AppendString(room[:0], r.ProgressToken)), nil
		}
		return nil, f
	}
	return nil, nil
}

func (f *roundForm) apply(text []byte, found *recall.Gaps, token []byte) []byte {
	out, done := make([]byte, 0, len(text)+f.more+len(token)), 0
	for i := range f.count {
		e := &f.edits[i]
		out = append(append(out, text[done:e.from.In(found)]...), e.before...)
		if e.token {
			out = append(append(out, token...), e.after...)
		}
		done = e.to.In(found)
	}
	return append(out, text[done:]...)
}

// rememberRound has it be known what becomes by p of calls like original, which has the form f.
func (f *callForm) rememberRound(original, token []byte, p jsonobject.Patch) {
	s, found := jsonscan.New(original), recall.Gaps{}
	edits, err := p.Edits(nil, original, 0)
	edits = slices.DeleteFunc(edits, jsonobject.Edit.IsNone)
	if err != nil || len(edits) > maxEdits || !f.Fits(&s, &found) {
		return
	}
	round := &roundForm{count: len(edits)}
	for i, e := range edits {
		before, after, has := bytes.Cut(e.With, token)
		round.edits[i] = roundEdit{recall.SpotOf(e.From, &found), recall.SpotOf(e.To, &found), string(before), string(after), has}
		round.more += len(before) + len(after)
	}
	f.round.Store(round)
}
