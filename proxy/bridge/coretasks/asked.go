package coretasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/mcp/taskwire"
	"berth/proxy/bridge/rounds"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/session"
)

// show puts what the task asks into the view. A task that asks nothing that its client has not
// answered, or can answer, is at work as far as that can tell.
func (t *Task) show(ctx context.Context, v *taskwire.View) error {
	notes := t.of.Notes.of(t.l, t.core)
	known, err := notes.open(ctx)
	if err != nil {
		return err // what the server tells now it tells once
	}
	asked, err := t.collect(ctx, len(known) > 0, nil)
	if err != nil {
		return err
	}
	if len(asked) > 0 {
		if known, err = notes.ask(ctx, told(asked), until(v), t.declares); err != nil {
			t.refuse(ctx, asked)
			return err
		}
	}
	t.put(ctx, v, notes, t.withoutWithdrawn(ctx, notes, known))
	return nil
}

// showHeard puts what the task has asked on the session's own stream into the view of a task that is at work: servers that ask there do not
// say that they want input. What cannot be read now the next look shows.
func (t *Task) showHeard(ctx context.Context, v *taskwire.View) {
	notes := t.of.Notes.of(t.l, t.core)
	if known, err := notes.open(ctx); err == nil {
		t.put(ctx, v, notes, slices.DeleteFunc(known, func(q note) bool { return q.Words != "" }))
	}
}

// put puts questions that wait into the view.
func (t *Task) put(ctx context.Context, v *taskwire.View, notes taskNotes, known []note) {
	var inputs []inquiry.Input
	for _, q := range known {
		if t.mayAsk(ctx, notes, q) && len(inputs) < inquiry.MaxInputs {
			inputs = append(inputs, inquiry.Input{Key: q.Key, Value: inquiry.InputRequest(q.Question.Request)})
		}
	}
	if v.Status = "working"; len(inputs) > 0 {
		v.Status, v.Inputs = "input_required", inquiry.Inputs(inputs)
	}
}

// withoutWithdrawn are the questions that wait, less what the server has withdrawn: nobody is shown that any more.
func (t *Task) withoutWithdrawn(ctx context.Context, notes taskNotes, known []note) (left []note) {
	var gone []note
	for _, q := range known {
		if slices.Contains(t.withdrawn, mcp.IDKey(q.ID)) {
			gone = append(gone, q)
		} else {
			left = append(left, q)
		}
	}
	if len(gone) > 0 {
		t.of.Notes.questions.Add(rounds.WasWithdrawn, len(gone))
		_ = notes.settle(ctx, gone) // else it is shown once more
	}
	return left
}

// until is how long a task will live.
func until(v *taskwire.View) time.Duration {
	return max(time.Until(v.Created.Add(lifeOf(v))), time.Minute)
}

// mayAsk reports whether the client that made the task has declared to answer a question, which else
// is refused in its place.
func (t *Task) mayAsk(ctx context.Context, notes taskNotes, q note) bool {
	refusal := t.declares.Refusal(q.Question.Request)
	if refusal == nil {
		return true
	}
	t.of.Notes.questions.Add(rounds.WasUndeclared, 1)
	t.tell(ctx, mcp.ErrorResponse(q.ID, refusal.Object()))
	_ = notes.settle(ctx, []note{q}) // else it is refused once more
	return false
}

// refuse answers questions that cannot be put.
func (t *Task) refuse(ctx context.Context, asked []rounds.Question) {
	for _, q := range asked {
		t.tell(ctx, mcp.ErrorResponse(q.ID, rounds.ErrNobodyAsked.Object()))
	}
}

func (t *Task) tell(ctx context.Context, message []byte) {
	if err := t.l.Tell(ctx, t.who.Out, message); err != nil {
		t.of.At.Log.Debug("an upstream could not be answered", "upstream", t.of.At.Name, "error", err)
	}
}

// update gives the server what the client answers. What answers nothing that is open is passed
// over ("Task Update Requests").
func (t *Task) update(ctx context.Context) error {
	given, err := inquiry.Responses(t.who.Out.Body)
	if err != nil {
		return err
	}
	notes := t.of.Notes.of(t.l, t.core)
	known, err := notes.open(ctx)
	if err != nil {
		return err
	}
	var questions, answered []rounds.Question
	anew := false
	for _, q := range known {
		questions = append(questions, q.Question)
		if rounds.Find(given, q.Key) != nil {
			answered, anew = append(answered, q.Question), anew || q.Anew
		}
	}
	if err := rounds.Check(given, questions); err != nil {
		return err
	}
	switch {
	case len(answered) == 0:
		_, err := t.read(ctx)
		return err
	case anew:
		return t.answerAnew(ctx, notes, known, given)
	}
	return t.give(ctx, notes, known, given)
}

// give gives the server the answers to what it asks.
func (t *Task) give(ctx context.Context, notes taskNotes, known []note, given []inquiry.Input) error {
	var answered []note
	for _, q := range known {
		value := rounds.Find(given, q.Key)
		if value == nil {
			continue
		}
		if err := t.answer(ctx, q, value); err != nil {
			return err
		}
		t.answerEarlier(ctx, q, value)
		answered = append(answered, q)
	}
	t.of.Notes.questions.Add(rounds.WasSettled, len(answered))
	return notes.settle(ctx, answered)
}

// answer posts an answer. The server ignores one that it has.
func (t *Task) answer(ctx context.Context, q note, value []byte) error {
	answer := mcp.Response(q.ID, value)
	if q.Words != "" || mcp.RelatedTask(q.Question.Request) != "" {
		answer = taskwire.RelatedResponse(q.ID, value, t.core).Bytes()
	}
	err := t.l.Tell(ctx, t.who.Out, answer)
	refused, ok := errors.AsType[*session.Refusal](err)
	switch {
	case ok && outbound.DeniesSession(refused.Status) && (t.l.ID == "" || t.l.IsDenied(ctx, t.who.Out)):
		return mcp.ErrUnknownTask
	case ok:
		return fmt.Errorf("%w: %w", fault.BadUpstream, err)
	}
	return err
}
