package proxy

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"berth/internal/api"
	"berth/internal/mcp"
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
	q := e.x.query()
	q.Inquirer, q.Trail = asksNobody{inquirer{e.x}}, looked
	return q
}

type asksNobody struct{ inquirer }

func (i asksNobody) Missing() error {
	if i.sawEnd() {
		return nil
	}
	return i.x.p.gate.WouldMiss(i.x.Caller)
}

func (e *explaining) trail(t *trail.Trail) {
	e.key(t.Keys)
	for _, s := range t.Steps {
		e.step(s.What, s.Result, s.Detail)
	}
}

func (e *explaining) routed(ctx context.Context) error {
	x, looked := e.x, new(trail.Trail)
	err := x.decide(new(e.query(looked)))
	e.trail(looked)
	if err != nil {
		if errors.Is(err, routing.ErrWouldAsk) {
			return err
		}
		seen, refusal := unroutedAnswer(x.p.stale, x.Call, nil, err)
		if seen == nil {
			return refusal
		}
		e.answer("the task could not be routed, and this berth saw it before: it tells what it saw")
		return nil
	}
	goal, err := goalOf(x.Call, &x.decision)
	switch {
	case err != nil:
		return err
	case x.p.tasks.AsksTask(x.Call) && x.HasCoreTasks(&x.decision):
		e.step("rule", "may apply", "berth makes a task of the call if a rule names the tool and its server does not make tasks itself")
	case goal == theList:
		e.told.Why = "it asks for a list of tasks, which berth makes of those of all upstreams"
		e.told.Answer = api.Answer{Action: "forward", Detail: "upstreams: " + strings.Join(x.Pool().Names(), ", ")}
		return nil
	}
	if goal == theOwner {
		return e.owned(x.decision.Owner)
	}
	e.told.Why = "nobody holds what it is about: the picker chooses"
	return e.unbound(x.decision)
}
