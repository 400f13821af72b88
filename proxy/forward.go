package proxy

import (
	"cmp"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/course"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/upgrade"
)

// forward routes the request, sends it, and relays the answer.
func (x *request) forward() error {
	x.rec.StartSpan()
	x.p.lingering.TakeOver(x.Call)
	ctx, reads, end := x.p.lingering.Detach(x.Call, x.p.end.cutting)
	x.Ctx, x.reads = ctx, reads
	if reads != nil {
		x.out.Reads = reads
	}
	defer end()
	by, err := x.Guide.Course(x.Ctx, x.Call, &x.rec)
	switch {
	case err != nil:
		return err
	case by == course.OwnTask:
		x.reads.Own()
		return x.told(x.asTask().Serve(x.Ctx))
	case by == course.NewTask:
		return x.becomeTask()
	case by == course.Subscription:
		return x.listen()
	}
	return x.dispatch()
}

// dispatch routes the request and sends it where that says; and once more, where its session
// has moved to meanwhile.
func (x *request) dispatch() error {
	defer x.made.End()
	defer func() { x.poll.Release() }() // where it leads one
	err := x.route()
	for err == errRouted {
		if x.p.tasks.AsksTask(x.Call) {
			err = x.becomeCoreTask()
		} else {
			err = x.deliver()
		}
	}
	return err
}

// deliver sends the request, which was routed, to whom that says.
func (x *request) deliver() error {
	if failover.MayBeBehind(x.Call, &x.Decision) {
		if v := x.p.mover.Outdated(x.Ctx, x.Case()); v.Step != failover.Stay {
			return x.act(v)
		}
	}
	known := x.FindAsker()
	if known && x.IsResponse() {
		err := x.p.sessions.MayReply(x.Ctx, x.Way(), &x.Decision)
		if known = !errors.Is(err, upgrade.ErrUnknown); known && err != nil {
			return err
		}
		if x.rec.IsAudited() {
			x.asking = x.p.sessions.Asking(x.Ctx, x.Way(), &x.Decision)
		}
	}
	if !known {
		// Nobody waits for this answer. It is taken as a server takes one (2025-11-25, transports,
		// "Sending Messages to the Server": 202): an error would end the session, or the
		// connection, of a client that can do nothing about it.
		x.p.log.Debug("an answer that nobody waits for is dropped", "pool", x.PoolName())
		x.out.Empty(wire.StatusAccepted)
		return nil
	}
	goal, err := course.GoalOf(x.Call, &x.Decision)
	switch {
	case err != nil:
		return err
	case goal == course.TheList:
		return x.listTasks()
	case goal == course.Anybody && x.Decision.Owner != nil:
		x.left = x.Decision.LeaveOwner()
	}
	if owner := x.Decision.Owner; owner != nil {
		if done, err := x.endSession(owner); done {
			return err
		}
		if err := x.made.BindTo(owner); err != nil {
			return err
		}
		return x.forwardOwned(owner)
	}
	return x.forwardUnbound()
}

// forwardUnbound sends unbound work to the picker's choice, and on to another
// upstream only while nothing was sent, if it is a pure read that was not answered, or if it
// was refused as of an era that the upstream does not speak.
func (x *request) forwardUnbound() error {
	var tried []*routing.Upstream
	var last error
	var search eraSearch
	defer search.drop()
	for {
		next, err := lease(x.Call, &x.Decision, tried)
		if err != nil && search.response != nil {
			return search.relay(x)
		}
		if err != nil {
			return cmp.Or(last, err)
		}
		done, err := x.forwardLeased(next, &search)
		if done {
			return err
		}
		tried, last = append(append(tried, next.Upstream), search.demanding...), err
	}
}

// lease takes up the picker's choice. New work waits where the upstreams are full, as long as its
// client does; a stream takes no room, and what has begun is not held up. What an upstream has
// asked its client about goes on there, though it drains.
func lease(c *inbound.Call, at *routing.Decision, tried []*routing.Upstream) (*routing.Lease, error) {
	if at.GoesOn && at.Prefer != "" {
		if lease, err := c.Pool().GoOn(at.Prefer, tried); lease != nil || err != nil {
			return lease, err
		}
	}
	work := c.Work(at.Prefer)
	if c.Stands || c.ConcernsBegun {
		lease, err := c.Pool().Pick(work, tried)
		if err == nil && c.Stands {
			lease.Stand()
		}
		return lease, err
	}
	ctx := c.HTTP.Context()
	lease, err := c.Pool().Await(ctx, work, tried)
	if err != nil && ctx.Err() != nil {
		return nil, fault.ErrClientGone
	}
	return lease, err
}

// forwardLeased sends unbound work to the leased upstream and gives the lease back.
// done is false if another upstream may do the work.
func (x *request) forwardLeased(lease *routing.Lease, search *eraSearch) (done bool, err error) {
	defer func() { giveBack(lease, x.standing) }()
	u := lease.Upstream
	owner, err := x.made.Bind(u)
	if err != nil {
		return true, err
	}
	if !owner.Is(u) {
		lease.Release()
		return true, x.forwardOwned(owner)
	}
	response, err := x.sendAgain(u, time.Time{})
	for err == nil {
		if search.goesOn(x, u, response) {
			return false, nil
		}
		if err = x.relayAnswer(u, response); !isUnanswered(x.Call, err) {
			return true, err
		}
		response, err = x.sendLast(u, err)
	}
	var failed *exchange.SendError
	if x.Ctx.Err() != nil || !errors.As(err, &failed) {
		return true, fault.ErrClientGone
	}
	x.Decision.GoesOn = x.Decision.GoesOn && !failed.Anew
	return failed.Garbled || failed.Sent && !x.ReadsOnly, err
}

// sendAgain is send, and once more where the connection broke, which may have been a kept one at its end, and the request had not
// been written or changes nothing.
func (x *request) sendAgain(u *routing.Upstream, began time.Time) (*wire.Response, error) {
	first := outbound.Terms{Again: true, Reads: x.ReadsOnly}
	response, err := x.send(u, first, began)
	if x.again = first.Repeats(err) && x.Ctx.Err() == nil; x.again {
		response, err = x.send(u, outbound.Terms{}, time.Time{})
	}
	return response, err
}

// sendLast sends a request once more that changes nothing, and of whose answer nothing could be relayed, as err says. What was sent twice
// fails with that.
func (x *request) sendLast(u *routing.Upstream, err error) (*wire.Response, error) {
	if x.again || x.Ctx.Err() != nil {
		return nil, err
	}
	x.again = true
	return x.send(u, outbound.Terms{}, time.Time{})
}

// isUnanswered reports whether relaying the answer to what changes nothing has come to as much as if there were none.
func isUnanswered(c *inbound.Call, err error) bool {
	_, unanswered := errors.AsType[*exchange.SendError](err)
	return unanswered && c.ReadsOnly
}

// send sends the request to u once, now: began, unless nobody has looked at the clock, where it is zero.
func (x *request) send(u *routing.Upstream, t outbound.Terms, began time.Time) (*wire.Response, error) {
	way := x.Way()
	target := way.URL(u)
	if x.Opaque {
		target = way.Beside(u)
	}
	out := x.memory.parcel.Request(&way, u, x.HTTP.Method, target, x.Body)
	if x.Opaque {
		out.Header.Take("Accept-Encoding", x.HTTP.Header)
	}
	began = x.rec.SendTo(u, began)
	out.Begun = began
	response, err := x.sendOver(u, out, t)
	x.Outlived = x.Outlived || !out.Written
	x.made.Sent(err)
	if err != nil {
		x.rec.EndExchange(audit.ErrorType(err))
		if x.Ctx.Err() != nil {
			outbound.To(x.Endpoint).Abandoned(x.Ctx, u, out, time.Since(began))
		}
	}
	return response, err
}
