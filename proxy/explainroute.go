package proxy

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"berth/internal/api"
	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/tasks"
	"berth/routing"
	"berth/sticky"
)

// codeOf is a refusal for programs: its reason, or the code of JSON-RPC.
func codeOf(e *mcp.Error) string {
	if e.Reason != "" {
		return e.Reason
	}
	return strconv.Itoa(e.Code)
}

// ownTask is about a task of berth's own making.
func (e *explaining) ownTask(ctx context.Context) error {
	x := e.x
	if err := tasks.CheckMayAsk(x.Call, nil); err != nil {
		return err
	}
	if x.Session != "" && x.Era() == mcp.EraLegacy {
		trail := new(routing.Trail)
		err := x.Endpoint.Router.FindSession(ctx, e.query(trail))
		e.trail(trail)
		if errors.Is(err, routing.ErrUnknownSession) {
			return err
		}
	}
	task, err := x.p.options.Tasks.Peek(ctx, x.Single().TaskID, x.Asker())
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
	if !e.byID && !x.p.access.Caller(x.way()).IsCreator(task) {
		e.step("credentials", "would be judged", "they are not those that made the task: upstreams are asked whether they take them")
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

// newTask is about a call that becomes a task.
func (e *explaining) newTask(ctx context.Context) error {
	x := e.x
	if err := tasks.CheckServed(x.Call, nil); err != nil {
		return err
	}
	if _, err := x.OnceKey(); err != nil {
		return err
	}
	trail := new(routing.Trail)
	var d routing.Decision
	err := x.Endpoint.Router.Decide(ctx, new(e.query(trail)), &d)
	e.trail(trail)
	if err == nil && d.Owner == nil {
		e.candidates(d, false)
	}
	if d.Owner != nil {
		e.told.Owner = d.Owner.Name
	}
	rule := x.p.tasks.Rule(x.Call)
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

// query is the request's, and only asks.
func (e *explaining) query(trail *routing.Trail) routing.Query {
	q := e.x.query()
	q.Inquirer, q.Trail = asksNobody{inquirer{e.x}}, trail
	return q
}

// asksNobody is an inquirer that counts nothing.
type asksNobody struct{ inquirer }

// Missing implements routing.Inquirer.
func (i asksNobody) Missing() error {
	if i.sawEnd() {
		return nil
	}
	return i.x.p.gate.WouldMiss(i.x.Caller)
}

func (e *explaining) trail(t *routing.Trail) {
	e.key(t.Keys)
	for _, s := range t.Steps {
		e.step(s.What, s.Result, s.Detail)
	}
}

// routed is about a request that goes where routing says.
func (e *explaining) routed(ctx context.Context) error {
	x, trail := e.x, new(routing.Trail)
	err := x.decide(new(e.query(trail)))
	e.trail(trail)
	if err != nil {
		if errors.Is(err, routing.ErrWouldAsk) {
			return err
		}
		seen, refusal := unroutedAnswer(x.p.stale, x.Call, err)
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

// owned is about a request that goes to its owner or nowhere.
func (e *explaining) owned(u *routing.Upstream) error {
	x := e.x
	e.told.Owner = u.Name
	e.told.Why = fmt.Sprintf("%s is bound to %s (found: %s)", bound(&x.decision), u.Name, x.decision.Source)
	state := u.State()
	if state.Name != routing.StateOK {
		e.step("owner", state.Name, state.String())
	}
	if isOutOfReach(x.Call, &x.decision, u) {
		if x.AboutTask && x.p.stale.IfError(x.Call, u.DownFor()) != nil {
			e.answer("the owner " + u.Name + " does not answer: berth tells the task as it saw it last")
			return nil
		}
		if e.byID && x.Principal == "" && x.AboutTask && x.p.stale.IfErrorForSome(x.Call, u.DownFor()) {
			e.step("credentials", "would be judged", "whoever was told of the task before is told it again")
			e.answer("the owner " + u.Name + " does not answer: berth tells the task as it saw it last, to credentials that were told of it before")
			return nil
		}
		return unreachable(x.asCase(), u, nil)
	}
	e.told.Answer = api.Answer{Action: "forward", Detail: "upstream: " + u.Name}
	switch {
	case u.MovesSessions() && x.asCase().MayReopen():
		e.told.Answer.Detail += ", or another: sessions are to leave it, and this one can be opened elsewhere"
	case u.Silent():
		e.told.Answer.Detail += ", which does not answer at present: it is tried once"
	case x.HTTP.Method == wire.MethodDelete && x.p.sessions.MayHold(x.way(), &x.decision):
		e.told.Answer.Detail += "; where calls are held in the session, berth answers and tells it later"
	}
	return nil
}

func bound(d *routing.Decision) string {
	switch {
	case isKeptTogether(d):
		return "a value of an affinity header"
	case d.Key.Kind == sticky.Session:
		return "its session"
	}
	return "its task"
}

// unbound is about new work.
func (e *explaining) unbound(d routing.Decision) error {
	x := e.x
	o := e.candidates(d, !x.Stands && !x.ConcernsBegun && !x.BeforeAuthorization())
	switch {
	case o.Err != nil:
		return o.Err
	case o.Waits:
		e.told.Answer = api.Answer{Action: "wait", Detail: "for room: all that may have it are full"}
		return nil
	}
	var names []string
	for _, u := range o.Among {
		names = append(names, u.Name)
	}
	detail := "upstream: " + names[0]
	if len(names) > 1 {
		detail = "one of: " + strings.Join(names, ", ")
	}
	e.told.Answer = api.Answer{Action: "forward", Detail: detail}
	return nil
}

// candidates tells how each upstream of the pool stands.
func (e *explaining) candidates(d routing.Decision, mayWait bool) routing.Prospect {
	o := e.x.Pool().Prospect(e.x.Work(d.Prefer), mayWait, d.GoesOn)
	for _, c := range o.Candidates {
		state := c.State()
		told := api.Candidate{Upstream: c.Name, State: state.Name, Draining: c.Draining, Rank: c.Rank, Load: c.Load, Weight: max(c.Weight, 1), Room: c.Room}
		var why []string
		if c.Draining {
			why = append(why, "drains")
		}
		if state.Name != routing.StateOK {
			why = append(why, state.String())
		}
		if c.Backup {
			why = append(why, "a backup")
		}
		if c.Foreign {
			why = append(why, "does not speak the "+e.x.Era().String()+" era, as it last showed")
		}
		if !c.Room {
			why = append(why, "full")
		}
		told.Why = strings.Join(why, "; ")
		e.told.Candidates = append(e.told.Candidates, told)
	}
	return o
}
