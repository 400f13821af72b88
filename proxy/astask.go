package proxy

import (
	"context"
	"errors"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/course"
	"berth/proxy/failover"
	"berth/proxy/tasks"
	"berth/routing"
)

// asTask is the request as one about tasks of berth's own making, as it stands now.
func (x *request) asTask() *tasks.Request {
	return &tasks.Request{
		Way: x.Way(), Face: x.p.tasks, At: &x.Decision, Out: x.out, Rec: &x.rec, Seat: &x.seat, Root: rootOfTask{x},
	}
}

// becomeTask serves a call that becomes a task by its rule.
func (x *request) becomeTask() error {
	plain, err := x.asTask().Create(x.Ctx)
	if plain {
		x.bodyKept = true
		return x.dispatch()
	}
	return x.told(err)
}

// told notes that berth itself has answered the request, unless err says otherwise: nobody has anything of it any more but the
// task, which may keep its body. What waits for a task of 2025-11-25 others know of.
func (x *request) told(err error) error {
	x.answered, x.bodyKept = err == nil && x.Era() == mcp.EraModern, true
	return err
}

// becomeCoreTask serves a call that asks to be made a task, and that was routed.
func (x *request) becomeCoreTask() error {
	call, err := x.asTask().AsCoreCall(x.Ctx, x.p.announcers[x.Endpoint])
	switch {
	case err != nil:
		return err
	case call == nil:
		if err := x.chargeLate(x.Ctx); err != nil {
			return err
		}
		return x.deliver()
	}
	if done, err := x.leaveLost(); done {
		return err
	}
	x.bodyKept = true
	err = x.asTask().CreateCore(x.Ctx, call)
	if unheard, ok := errors.AsType[*tasks.Unheard](err); ok {
		return x.leaveUnheard(unheard)
	}
	return err
}

// leaveUnheard has a call be answered, or leave with its session, as a plain one would that its owner has not heard.
func (x *request) leaveUnheard(e *tasks.Unheard) error {
	owner := x.Decision.Owner
	if e.Failed != nil {
		return x.ownerFailed(owner, e.Failed)
	}
	if v := x.p.mover.Denied(x.Ctx, x.Case(), owner, wire.StatusNotFound); v.Step != failover.Stay {
		return x.act(v)
	}
	return routing.ErrUnknownSession
}

// chargeLate counts, once, a call whose charge was put off.
func (x *request) chargeLate(ctx context.Context) error {
	if x.charged || len(x.Charges) == 0 || !x.p.tasks.PutsOffCharge(x.Call) {
		return nil
	}
	x.charged = true
	return x.p.gate.Charge(ctx, x.Call)
}

// leaveLost takes the request away from where its session is not any more, as far as that
// is known: a call that is held there would only fail. done is false if it may stay.
func (x *request) leaveLost() (done bool, err error) {
	owner := x.Decision.Owner
	if owner == nil {
		return false, nil
	}
	lost, judge := course.IsLost(x.Endpoint, owner, nil), x.p.mover.Suspected
	switch {
	case lost && x.Decision.IsKeptTogether():
		x.left = x.Decision.LeaveOwner()
		return false, nil
	case lost:
		judge = x.p.mover.Lost
	}
	if v := judge(x.Ctx, x.Case(), owner); v.Step != failover.Stay {
		return true, x.act(v)
	}
	if lost {
		return true, x.outOfReach(owner, nil)
	}
	return false, nil
}

// rootOfTask implements tasks.Root.
type rootOfTask struct{ x *request }

func (r rootOfTask) Charge(ctx context.Context) error { return r.x.chargeLate(ctx) }

func (r rootOfTask) Preferred() string {
	var d routing.Decision
	err := r.x.Endpoint.Router.Decide(r.x.Ctx, new(r.x.Query()), &d)
	switch {
	case err != nil:
		return ""
	case d.Owner != nil:
		return d.Owner.Name
	}
	return r.x.Pool().Home(r.x.Work(d.Prefer))
}

func (r rootOfTask) UseSession() error {
	if r.x.Session == "" {
		return nil
	}
	err := r.x.Endpoint.Router.FindSession(r.x.Ctx, r.x.Query())
	if !errors.Is(err, routing.ErrUnknownSession) {
		return nil // while nobody can say, the task is answered for all the same
	}
	r.x.p.gate.NoteMiss(r.x.Caller, err)
	return err
}

func (r rootOfTask) Relay(u *routing.Upstream, response *wire.Response) error {
	return r.x.relayAnswer(u, response)
}

func (r rootOfTask) StreamHeaders(response *wire.Response) {
	streamHeaders(r.x.Way(), r.x.out, response)
}

func (r rootOfTask) Observe(u *routing.Upstream, piece exchange.Piece) ([]byte, error) {
	var says peeked
	says.peek(r.x.Call, piece.Message, false)
	return r.x.observe(u, &piece, &says, true)
}
