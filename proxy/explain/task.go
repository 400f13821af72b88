package explain

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/proxy/tasks"
	"berth/routing"
	"berth/routing/trail"
	"berth/upgrade"
)

func (e *explaining) ownTask(ctx context.Context) error {
	r := e.r
	if err := tasks.CheckMayAsk(r.Call, nil); err != nil {
		return err
	}
	if r.Session != "" && r.Era() == mcp.EraLegacy {
		looked := new(trail.Trail)
		err := r.Endpoint.Router.FindSession(ctx, e.query(looked))
		e.trail(looked)
		if errors.Is(err, routing.ErrUnknownSession) {
			return err
		}
	}
	task, err := e.Own.Reader.Peek(ctx, r.Single().TaskID, r.Asker())
	if err != nil {
		e.step("record", resultOf(err), "")
		return err
	}
	detail := "state " + string(task.State)
	if task.Upstream != "" {
		detail += ", upstream " + task.Upstream
	}
	if task.Holder != "" {
		detail += ", held by berth " + task.Holder
		e.told.Owner = task.Holder
	}
	e.step("record", "found", detail)
	if !e.byID && !e.Access.Caller(r.Way()).IsCreator(task) {
		e.step("credentials", "would be judged", "they are not those that made the task: upstreams are asked whether they take them")
	}
	if r.Single().Method == mcp.MethodUpdateTask {
		if _, err := tasks.AnswersTo(&task, r.Call); err != nil {
			return err
		}
	}
	e.answer("berth made the task: any berth answers from the store, whoever holds its call")
	return nil
}

func resultOf(err error) string {
	if errors.Is(err, storage.ErrUnavailable) {
		return "unavailable"
	}
	return "not found"
}

// boundOf is the bound that an error says is reached, as metrics name it, "" if it says none.
func boundOf(err error) string {
	if refusal, ok := errors.AsType[*upgrade.Refusal](err); ok {
		return refusal.Reason
	}
	return ""
}

func (e *explaining) newTask(ctx context.Context) error {
	r := e.r
	if err := tasks.CheckServed(r.Call, nil); err != nil {
		return err
	}
	key, err := r.OnceKey()
	switch {
	case err != nil:
		return err
	case key == "" && !r.Pool().TakesWork(): // with one it may be a task already
		return routing.ErrNoUpstream
	}
	looked := new(trail.Trail)
	var d routing.Decision
	err = r.Endpoint.Router.Decide(ctx, new(e.query(looked)), &d)
	e.trail(looked)
	if err == nil && d.Owner == nil {
		e.candidates(d, false)
	}
	if d.Owner != nil {
		e.told.Owner = d.Owner.Name
	}
	rule := e.Guide.Tasks.Rule(r.Call)
	switch err := e.Guide.Tasks.Outlook(ctx, r.Way(), key); {
	case errors.Is(err, storage.ErrUnavailable) && key == "" && rule.OnStoreDown != upgrade.StoreRefuse:
		e.step("task", "none", "the store is away: the call stays plain")
		return e.routed(ctx)
	case err != nil:
		e.step("task", "refused", boundOf(err))
		return err
	}
	e.step("task", "room", "")
	detail := "with a task"
	if rule.After > 0 {
		detail = fmt.Sprintf("with the result if it comes within %v, else with a task", rule.After)
	}
	if rule.Concurrency > 0 {
		detail += fmt.Sprintf("; the call may wait in its line: %d at once for each upstream", rule.Concurrency)
	}
	e.answer("a rule of [[upgrade]] names the tool, and the client takes tasks")
	e.told.Answer.Detail = detail
	return nil
}
