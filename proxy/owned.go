package proxy

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/course"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/lingering"
	"berth/proxy/outbound"
	"berth/routing"
)

// forwardOwned sends an owned call to its owner, and to nobody else. One repetition there is
// allowed where its connection breaks.
func (x *request) forwardOwned(u *routing.Upstream) error {
	if answered, err := x.sharePoll(u); answered {
		return err
	}
	if course.IsOutOfReach(x.Call, &x.Decision, u) {
		if v := x.p.mover.Outdated(x.Ctx, x.Case()); v.Step != failover.Stay {
			return x.act(v)
		}
		return x.outOfReach(u, nil)
	}
	if x.Decision.Visits {
		leave, err := x.visit(u)
		if err != nil {
			x.p.log.Debug("the owner of a task opens no session for who asks in another", "pool", x.PoolName(), "upstream", u.Name, "error", err)
			return x.outOfReach(u, nil)
		}
		defer leave()
	}
	var began time.Time
	if x.MovedFrom == "" && !x.Decision.Visits { // nothing was waited for since
		began = x.poll.Began()
	}
	if u.MovesSessions() && !x.Stays {
		v := x.p.mover.Leaving(x.Case(), u)
		if v.Step != failover.Stay {
			return x.act(v)
		}
		x.Stays, x.LeavesLater = true, v.Later
		began = time.Time{} // that took its time
	}
	lease := x.Pool().Own(u)
	defer func() { giveBack(lease, x.standing) }()
	if x.Stands {
		lease.Stand()
	}
	if !x.ReadsOnly {
		x.change = x.p.polls.Change(x.Call)
	}
	response, err := x.sendAgain(u, began)
	if err == nil && response.Status == wire.StatusConflict && lingering.Resumes(x.Call) {
		response, err = x.p.lingering.TakeOverAgain(x.Ctx, x.Call, response, func() (*wire.Response, error) { return x.sendAgain(u, time.Time{}) })
	}
	for err == nil {
		x.p.lingering.EndCancelled(x.Ctx, x.Call, response.Status)
		if outbound.DeniesSession(response.Status) {
			if v := x.p.mover.Denied(x.Ctx, x.Case(), u, response.Status); v.Step != failover.Stay {
				lease.Release()
				return x.leaveDenied(u, response, v)
			}
		}
		if err = x.relayAnswer(u, response); !isUnanswered(x.Call, err) {
			return err
		}
		response, err = x.sendLast(u, err)
	}
	lease.Release() // the request may go elsewhere
	x.change.Done()
	return x.ownerFailed(u, err)
}

// visit has the request go on in a session at u that is opened for it, until leave is called.
func (x *request) visit(u *routing.Upstream) (leave func(), err error) {
	x.Keep()
	ctx := x.Ctx
	visit, err := failover.Visit(ctx, x.Case(), u)
	if err != nil {
		return nil, err
	}
	x.Alias = visit.ID
	if x.Single().Method != mcp.MethodTaskResult {
		return func() { visit.End(ctx) }, nil
	}
	// That may be asked for again, and the session stands for as long: it ends with the client.
	bound, stop := context.WithCancel(ctx)
	x.Ctx = bound
	stay := context.AfterFunc(x.HTTP.Context(), stop)
	return func() {
		stay()
		stop()
		visit.End(ctx)
	}, nil
}

// ownerFailed decides what it means that an owner gave no answer.
func (x *request) ownerFailed(u *routing.Upstream, err error) error {
	var failed *exchange.SendError
	if x.Ctx.Err() != nil || !errors.As(err, &failed) {
		return fault.ErrClientGone
	}
	if x.Decision.IsKeptTogether() && !failed.Sent && !failed.IsOwn() && course.IsLost(x.Endpoint, u, failed) {
		x.left = x.Decision.LeaveOwner()
		return x.forwardUnbound()
	}
	if !failed.Sent && !failed.IsOwn() {
		if v := x.p.mover.Lost(x.Ctx, x.Case(), u); v.Step != failover.Stay {
			return x.act(v)
		}
	}
	return x.outOfReach(u, failed)
}

// outOfReach answers an owned call whose owner does not answer: with the task as
// it was last seen where that is allowed; with the end of the session if that is
// gone with its instance, so that the client begins anew; or with an error that
// says that what it wants is out of reach, not gone. failed is nil if the call was
// not sent, because the owner is known to be silent.
func (x *request) outOfReach(u *routing.Upstream, failed *exchange.SendError) error {
	garbled := failed != nil && failed.Garbled
	if x.AboutTask && !garbled && serveStale(&x.Decision, x.out, x.p.stale.IfError(x.Call, u.DownFor())) {
		return nil
	}
	return course.Unreachable(x.Case(), u, failed)
}
