package mcp

import "strings"

// results are the forms of answers to polls, by the task: they are the same but for the id for as long as the task is at work and
// nothing happens to it, so that there is no gap but that. An outcome is told once, and nothing of it is kept.
var results = newMemory[answerForm](1 << 11)

// maxTold is how many bytes are kept of such an answer, at most.
const maxTold = 512

// recallTold returns the form of what is told of the task asked, nil if it is not known.
func (r *answerReader) recallTold() *answerForm {
	if r.asked == "" {
		return nil
	}
	f := results.place(wordsOf(r.asked)).Load()
	if f == nil || f.told.ID != r.asked {
		return nil
	}
	return f
}

// rememberTold keeps the message that was read, if it tells that the task asked is at work. These are its gaps.
func (r *answerReader) rememberTold(a *Answer, g *gaps) {
	if r.asked == "" || r.result.ID != r.asked || r.result.Status != "working" || len(r.Text()) > maxTold {
		return
	}
	place := results.place(wordsOf(r.asked))
	if r.core != (Task{}) || !results.isFree(place) {
		return
	}
	told := r.result.withoutID()
	told.ID = strings.Clone(r.asked) // and no part of a request
	if f := r.form(a, g.ofID(), told); f != nil {
		place.Store(f)
	}
}

// ofID are the gaps of the id of a message alone.
func (g *gaps) ofID() *gaps {
	own := new(gaps)
	for i := range min(g.count, maxGaps) {
		if one := g.of[i]; one.isID() {
			own.of[0], own.count = one, 1
		}
	}
	return own
}

// wordsOf are those in which the ids of tasks differ.
func wordsOf(task string) (one, other uint64) {
	return wordAt([]byte(task), len(task)-8), uint64(len(task))
}
