package tasks

import (
	"cmp"
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/upgrade"
)

// Serve answers a request about a task of berth's own making.
func (r *Request) Serve(ctx context.Context) error {
	r.At.Source = sourceUpgraded
	c := r.Single()
	if c.Era == mcp.EraLegacy {
		return r.serveCore(ctx, c)
	}
	if err := CheckMayAsk(r.Call, r.Rec); err != nil {
		return r.refused(ctx, err)
	}
	switch c.Method {
	case mcp.MethodGetTask:
		return r.get(ctx, c.TaskID)
	case mcp.MethodUpdateTask:
		return r.update(ctx, c.TaskID)
	}
	_, err := r.cancel(ctx)
	if errors.Is(err, upgrade.ErrTerminal) {
		err = nil // an end is acknowledged here (Tasks extension, "Task Cancellation")
	}
	return r.acknowledge(err)
}

// refused is err, or in a version that berth does not speak that there is no such task if there is none for the caller: of a task that nobody
// has no more is said in such a version, which servers may speak.
func (r *Request) refused(ctx context.Context, err error) error {
	c := r.Single()
	if c.Version == mcp.VersionModern {
		return err
	}
	task, none := r.Face.Tasks.Reader.Peek(ctx, c.TaskID, r.Asker())
	return cmp.Or(r.Face.Callers.Caller(r.Way).MayHear(ctx, task, none), err)
}

func (r *Request) get(ctx context.Context, id string) error {
	view, err := r.Face.Tasks.Reader.Get(ctx, id, r.Asker())
	defer view.Return()
	if err := r.mayHear(ctx, view.Task, err); err != nil {
		return err
	}
	r.Face.Tasks.Polls.Note(id)
	if view.State == upgrade.InputRequired {
		r.Face.Tasks.Steps.Doubt(&view.Task, r.Asker(), r.Envelope)
	}
	if view.State == upgrade.Completed || view.State == upgrade.Failed {
		r.Rec.Does(audit.Told, "")
	}
	r.Out.Respond(wire.StatusOK, view.Response(r.ID)...)
	return nil
}

func (r *Request) update(ctx context.Context, id string) error {
	task, err := r.mayChange(ctx, id)
	if err != nil {
		return err
	}
	answers, err := AnswersTo(&task, r.Call)
	if err != nil {
		return err
	}
	envelope := r.Envelope()
	err = r.Face.Tasks.Steps.Update(ctx, id, r.Asker(), answers, &envelope)
	if err == nil {
		r.Rec.Does(audit.Answered, "")
	}
	return r.acknowledge(stepped(err))
}

// AnswersTo are the answers that an update gives to what the task asks.
func AnswersTo(task *upgrade.Task, update *inbound.Call) ([]inquiry.Input, error) {
	answers, err := inquiry.Responses(update.Body)
	if err != nil {
		return nil, err
	}
	return answers, task.CheckAnswers(answers)
}

// cancel gives up the task that the request is about, in the caller's name. Its
// errors are those of upgrade.Steps.Cancel, and of mayChange.
func (r *Request) cancel(ctx context.Context) (upgrade.Task, error) {
	id := r.Single().TaskID
	if _, err := r.mayChange(ctx, id); err != nil {
		return upgrade.Task{}, err
	}
	who, envelope := r.Asker(), r.Envelope()
	who.Envelope = &envelope
	task, err := r.Face.Tasks.Steps.Cancel(ctx, id, who)
	if err == nil {
		r.Rec.Does(audit.Cancelled, "")
	}
	return task, stepped(err)
}

// stepped is the error of a step, in words where the store has not confirmed that: it may have been taken, or be once the store
// is back.
func stepped(err error) error {
	if errors.Is(err, storage.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) {
		return fault.StepUnknown
	}
	return err
}

// mayChange returns the task, and refuses who must not be told of it.
func (r *Request) mayChange(ctx context.Context, id string) (upgrade.Task, error) {
	task, err := r.Face.Tasks.Reader.Peek(ctx, id, r.Asker())
	return task, r.mayHear(ctx, task, err)
}

// mayHear returns what the caller is told in place of what was found, nil if nothing speaks
// against that, and reports who holds the task. What authorises its call may be renewed so.
func (r *Request) mayHear(ctx context.Context, task upgrade.Task, err error) error {
	r.Rec.Holder = task.Holder
	if err := r.Face.Callers.Caller(r.Way).MayHear(ctx, task, err); err != nil {
		return err
	}
	r.Rec.ComesFrom(task.Origin)
	if r.Face.Tasks.Steps.Wants(task.ID) && !task.Anybodys() {
		envelope := r.Envelope()
		r.Face.Tasks.Steps.Renew(task.ID, &envelope)
	}
	return nil
}

// acknowledge answers with an empty result, unless err says otherwise.
func (r *Request) acknowledge(err error) error {
	if err != nil {
		return err
	}
	r.Out.Respond(wire.StatusOK, mcp.EmptyResponse(r.ID))
	return nil
}
