package proxy

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
)

// forwardOwned sends an owned call to its owner, and to nobody else. One repetition there is
// allowed where its connection breaks.
func (x *request) forwardOwned(u *routing.Upstream) error {
	if answered, err := x.sharePoll(u); answered {
		return err
	}
	if isOutOfReach(x.Call, &x.decision, u) {
		if v := x.p.mover.Outdated(x.ctx, x.asCase()); v.Step != failover.Stay {
			return x.act(v)
		}
		return x.outOfReach(u, nil)
	}
	if x.decision.Visits {
		leave, err := x.visit(u)
		if err != nil {
			x.p.log.Debug("the owner of a task opens no session for who asks in another", "pool", x.PoolName(), "upstream", u.Name, "error", err)
			return x.outOfReach(u, nil)
		}
		defer leave()
	}
	var began time.Time
	if x.movedFrom == "" && !x.decision.Visits { // nothing was waited for since
		began = x.poll.Began()
	}
	if u.MovesSessions() && !x.stays {
		v := x.p.mover.Leaving(x.asCase(), u)
		if v.Step != failover.Stay {
			return x.act(v)
		}
		x.stays, x.leavesLater = true, v.Later
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
	if err == nil && response.Status == wire.StatusConflict && resumes(x.Call) {
		response, err = takeOverElsewhere(x, u, response)
	}
	if err != nil {
		lease.Release() // the request may go elsewhere
		x.change.Done()
		return x.ownerFailed(u, err)
	}
	x.p.heedCancellation(x.ctx, x.Call, response.Status)
	if outbound.DeniesSession(response.Status) {
		if v := x.p.mover.Denied(x.ctx, x.asCase(), u, response.Status); v.Step != failover.Stay {
			lease.Release()
			return x.leaveDenied(u, response, v)
		}
	}
	return x.relayAnswer(u, response)
}

// visit has the request go on in a session at u that is opened for it, until leave is called.
func (x *request) visit(u *routing.Upstream) (leave func(), err error) {
	x.keep()
	ctx := x.ctx
	visit, err := failover.Visit(ctx, x.asCase(), u)
	if err != nil {
		return nil, err
	}
	x.Alias = visit.ID
	if x.Single().Method != mcp.MethodTaskResult {
		return func() { visit.End(ctx) }, nil
	}
	// That may be asked for again, and the session stands for as long: it ends with the client.
	bound, stop := context.WithCancel(ctx)
	x.ctx = bound
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
	if x.ctx.Err() != nil || !errors.As(err, &failed) {
		return fault.ErrClientGone
	}
	if x.decision.IsKeptTogether() && !failed.Sent && !failed.Starved && isLost(x.Endpoint, u, failed) {
		x.left = x.decision.LeaveOwner()
		return x.forwardUnbound()
	}
	if !failed.Sent && !failed.Starved {
		if v := x.p.mover.Lost(x.ctx, x.asCase(), u); v.Step != failover.Stay {
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
	if x.AboutTask && !garbled && serveStale(&x.decision, x.out, x.p.stale.IfError(x.Call, u.DownFor())) {
		return nil
	}
	return unreachable(x.asCase(), u, failed)
}

// isOutOfReach reports whether a request that was routed to its owner is not sent there, because that is
// known to be silent and to answer nothing that anybody else could.
func isOutOfReach(c *inbound.Call, at *routing.Decision, u *routing.Upstream) bool {
	return u.Silent() && (c.AboutTask || at.IsKeptTogether())
}

// unreachable is what the client is told of an owner that gave no answer.
func unreachable(c failover.Case, u *routing.Upstream, failed *exchange.SendError) error {
	sent := failed != nil && failed.Sent
	switch {
	case failed != nil && (failed.Starved || failed.Garbled):
		return failed
	case !sent && c.Session != "" && !c.Pinned() && isLost(c.Endpoint, u, failed):
		return routing.ErrUnknownSession
	case !sent:
		return fault.OwnerSilent
	case c.AboutTask && !(failed.TimedOut && c.Single().Method == mcp.MethodGetTask):
		return fault.OwnerCut
	}
	return failed
}

// isLost reports whether what u held in its memory is as good as gone: nobody listens at its
// address, or it has been silent for longer than anybody is told to wait for it. failed is
// how the request to it failed, nil if there was none.
func isLost(ep *inbound.Endpoint, u *routing.Upstream, failed *exchange.SendError) bool {
	sent := failed != nil && failed.Sent
	return u.Refuses() || failed != nil && failed.Refused || !sent && u.DownFor() > ep.OwnerGrace
}
