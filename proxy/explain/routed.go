package explain

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"berth/internal/api"
	"berth/internal/mcp"
	"berth/proxy/course"
	"berth/routing"
	"berth/routing/trail"
)

func codeOf(e *mcp.Error) string {
	if e.Reason != "" {
		return e.Reason
	}
	return strconv.Itoa(e.Code)
}

func (e *explaining) query(looked *trail.Trail) routing.Query {
	q := e.r.Query()
	q.Inquirer, q.Trail = e.r.Bystander(), looked
	return q
}

func (e *explaining) trail(t *trail.Trail) {
	e.key(t.Keys)
	for _, s := range t.Steps {
		e.step(s.What, s.Result, s.Detail)
	}
}

func (e *explaining) routed(ctx context.Context) error {
	r, looked := e.r, new(trail.Trail)
	err := r.Decide(new(e.query(looked)), nil)
	e.trail(looked)
	if err != nil {
		if errors.Is(err, routing.ErrWouldAsk) {
			return err
		}
		seen, refusal := e.Guide.Unroutable(r.Call, nil, err)
		if seen == nil {
			return refusal
		}
		e.answer("the task could not be routed, and this berth saw it before: it tells what it saw")
		return nil
	}
	goal, err := course.GoalOf(r.Call, &r.Decision)
	switch {
	case err != nil:
		return err
	case e.Guide.Tasks.AsksTask(r.Call) && r.HasCoreTasks(&r.Decision):
		e.step("rule", "may apply", "berth makes a task of the call if a rule names the tool and its server does not make tasks itself")
	case goal == course.TheList:
		e.told.Why = "it asks for a list of tasks, which berth makes of those of all upstreams"
		e.told.Answer = api.Answer{Action: "forward", Detail: "upstreams: " + strings.Join(r.Pool().Names(), ", ")}
		return nil
	}
	if goal == course.TheOwner {
		return e.owned(r.Decision.Owner)
	}
	e.told.Why = "nobody holds what it is about: the picker chooses"
	return e.unbound(r.Decision)
}
