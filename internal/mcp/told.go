package mcp

import "strings"

// told is what was read of the result of a poll, which is the same one for as long as its task is at work and nothing happens
// to it. An outcome is told once, and nothing of it is kept.
type told struct {
	text       string
	task       Task
	resultType string
}

// results are those that were read last, by the task.
var results = newMemory[told](1 << 11)

// maxTold is how many bytes are kept of a result, at most.
const maxTold = 512

// recall passes over the result that comes next, if it is known to be what is told of the task asked.
func (r *answerReader) recall(a *Answer) bool {
	if r.asked == "" {
		return false
	}
	known := results.place(wordsOf(r.asked)).Load()
	if known == nil || known.task.ID != r.asked || !r.Again(known.text) {
		return false
	}
	a.ResultType, r.result = known.resultType, known.task
	r.result.ID = r.asked
	return true
}

// remember keeps the result that was read from there on, if it tells that the task asked is at work, and nothing else.
func (r *answerReader) remember(a *Answer, from int) {
	if r.asked == "" || r.result.ID != r.asked || r.result.Status != "working" {
		return
	}
	text, place := r.since(from), results.place(wordsOf(r.asked))
	switch {
	case text == nil, r.core != Task{}, !r.IsASCII(), len(text)+len(r.asked)+len(a.ResultType) > maxTold:
		return
	case a.ToolFailed, a.RequestState != "", a.NextCursor != "", a.Version != "", !results.isFree(place):
		return
	}
	task := r.result
	task.ID, task.Status = strings.Clone(task.ID), "working" // and no parts of a request
	place.Store(&told{string(text), task, strings.Clone(a.ResultType)})
}

// wordsOf are those in which the ids of tasks differ.
func wordsOf(task string) (one, other uint64) {
	return wordAt([]byte(task), len(task)-8), uint64(len(task))
}
