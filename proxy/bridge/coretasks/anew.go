package coretasks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"berth/internal/mcp/inquiry"
	"berth/internal/mcp/taskwire"
	"berth/proxy/bridge/rounds"
)

// maxEarlier bounds under how many ids a question is remembered that a server asks again and again.
const maxEarlier = 8

// told are the notes of questions that a tasks/result was told.
func told(asked []rounds.Question) (notes []note) {
	for _, q := range asked {
		sum := sha256.Sum256(inquiry.InputRequest(q.Request))
		notes = append(notes, note{Question: q, Request: string(q.Request), Words: base64.RawURLEncoding.EncodeToString(sum[:12])})
	}
	return notes
}

// isNoted reports whether a question was noted under the id that it has.
func isNoted(notes []note, q note) bool {
	return slices.ContainsFunc(notes, func(one note) bool {
		return one.Key == q.Key || bytes.Equal(one.ID, q.ID) || slices.ContainsFunc(one.Earlier, func(id json.RawMessage) bool { return bytes.Equal(id, q.ID) })
	})
}

// isAnew takes a question for one of notes that waits, if that asks the same under another id, and was not told at the same time: its
// server asks anew with each tasks/result. One that was answered is asked once more: its answer may have come to nobody.
func (q *note) isAnew(notes, together []note) bool {
	for i := range notes {
		one := &notes[i]
		switch {
		case one.Words == "" || one.Words != q.Words:
		case one.Settled:
			q.Anew = true
		case !slices.ContainsFunc(together, func(other note) bool { return bytes.Equal(other.ID, one.ID) }):
			earlier := append(slices.Clip(one.Earlier), one.ID)
			one.Earlier = earlier[max(len(earlier)-maxEarlier, 0):]
			one.ID, one.Request, one.Anew = q.ID, q.Request, true
			return true
		}
	}
	return false
}

// answerAnew has the server ask once more what it asks of each tasks/result, and gives it the answers while that stands: an answer to
// what an earlier one was told may come to nobody.
func (t *Task) answerAnew(ctx context.Context, notes taskNotes, known []note, given []inquiry.Input) error {
	var first []rounds.Question
	var failed error
	asked, err := t.collect(ctx, false, func(asked []rounds.Question) {
		if first = asked; len(asked) > 0 {
			known, failed = notes.ask(ctx, told(asked), unlimited, t.declares)
		}
		if failed != nil {
			t.refuse(ctx, asked)
			return
		}
		failed = t.give(ctx, notes, known, given)
	})
	if err == nil && len(asked) > len(first) {
		_, err = notes.ask(ctx, told(asked), unlimited, t.declares)
	}
	return cmp.Or(failed, err)
}

// answerEarlier gives the answer to a question under the ids that it had before: a server that asks the same twice waits for both.
func (t *Task) answerEarlier(ctx context.Context, q note, value []byte) {
	for _, id := range q.Earlier {
		t.tell(ctx, taskwire.RelatedResponse(id, value, t.core).Bytes())
	}
}
