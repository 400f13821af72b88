package runner

import (
	"context"
	"errors"
	"strconv"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/relay"
	"berth/internal/storage"
	"berth/internal/timed"
	"berth/internal/wire"
	"berth/routing"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// dispatch sends the round over line: the record says so before the first byte leaves. To
// another upstream it goes only while nothing has left.
func (rd *round) dispatch(ctx, line context.Context, at place) (transport.Exchange, place, error) {
	var tried []*routing.Upstream
	for {
		u := at.Upstream
		body, header, err := rd.commit(ctx, u)
		if err != nil {
			return nil, at, err
		}
		c := rd.roomyCall()
		c.Body, c.Sent, c.ID = body, header, rd.sent
		ex, err := rd.sendBy(ctx, line, u, c)
		failure, unanswered := errors.AsType[*exchange.SendError](err)
		if !unanswered || failure.Sent || ctx.Err() != nil {
			rd.slot.avoid, rd.slot.anew = avoided{}, false
			return ex, at, err
		}
		rd.slot.leave(at)
		rd.slot.anew = rd.slot.anew || failure.Anew
		if rd.slot.waitsForAny(rd.record()) {
			return nil, place{}, rd.giveBack(u)
		}
		tried = append(tried, u)
		next, noOther := rd.slot.take(tried)
		if noOther != nil {
			return nil, place{}, err
		}
		at = next
	}
}

// errReturned says that a round could not be sent, and waits for a place once more.
var errReturned = errors.New("upgrade: the round was not sent, and is due again")

// giveBack makes it durable that the round was not sent to u, and has it wait for a place elsewhere. It returns errReturned,
// or why the call is given up.
func (rd *round) giveBack(u *routing.Upstream) error {
	op := rd.l.Op(task.Return)
	op.Round = rd.due
	if err := rd.must(rd.ctx, op); err != nil {
		return err
	}
	rd.slot.comeBack(u)
	return errReturned
}

// roomyCall is the call with what of its answer may be in memory.
func (h *Held) roomyCall() *task.Call {
	c := h.call.Unpack()
	c.Room, c.Principal, c.Renewal, c.Leaves, c.Until = &h.room, h.whose, &h.renewal, h.r.partingOf(h), h.Expires
	return c
}

// sendBy is send once the store serves, where the way to u leads over it, and once the berth does that it leads to: which holds what the
// client was asked there.
func (rd *round) sendBy(ctx, line context.Context, u *routing.Upstream, c *task.Call) (ex transport.Exchange, err error) {
	isAway := func() bool {
		failure, unanswered := errors.AsType[*exchange.SendError](err)
		return unanswered && !failure.Sent && (errors.Is(err, storage.ErrUnavailable) || errors.Is(err, relay.ErrBusy))
	}
	for ex, err = rd.send(line, u, c); isAway() && timed.Sleep(ctx, retryStore) == nil; {
		ex, err = rd.send(line, u, c)
	}
	return ex, err
}

func (rd *round) send(line context.Context, u *routing.Upstream, c *task.Call) (transport.Exchange, error) {
	t := rd.record()
	if rd.client != nil {
		return rd.client.Send(line, u, c, t.Terms.MaxResult)
	}
	return rd.r.Pools.Get(t.Pool).Transport.Send(line, u, c, t.Terms.MaxResult)
}

// commit makes it durable that a round goes to u, and returns its body, and its headers if they are made already.
func (rd *round) commit(ctx context.Context, u *routing.Upstream) (body []byte, header *wire.Header, err error) {
	t := rd.record()
	if body, header = rd.takeFirst(t); body == nil {
		body, err = rd.body(ctx, t)
	}
	if err != nil {
		return nil, nil, err
	}
	if rd.to != nil { // which the record says, as long as it stands
		rd.to, rd.sent = nil, mcp.ID(body)
		if !rd.l.Dies() || rd.l.Records.Stands(ctx, rd.Standing()) {
			return body, header, nil
		}
	}
	// The store may take the step and not say so, and the round be given up meanwhile.
	rd.due = t.Round + 1
	op := rd.l.Op(task.Dispatch)
	op.Upstream, op.Round = u.Name, t.Round
	rd.sent = mcp.ID(body)
	if rd.stepAlone(ctx, op) {
		return body, header, nil
	}
	return body, header, rd.must(ctx, op)
}

// body is the original call with what belongs to the round that is due. A client that may
// get the answer itself is to find its own id there, also where the call went elsewhere
// before and nothing of it left.
func (rd *round) body(ctx context.Context, t *task.Task) ([]byte, error) {
	r := mcp.Round{ProgressToken: rd.token, Answered: t.Answered, WithoutTask: t.Call != ""}
	if t.Call != "" || t.Round > 0 && rd.client == nil {
		r.ID = requestID(rd.token, t.Round+1)
	}
	if t.Answered {
		t, err := rd.whole(ctx, t)
		if err != nil {
			return nil, err
		}
		r.State = t.RequestState
		if answers := t.Answers(); len(answers) > 0 {
			r.Responses = inquiry.Inputs(answers)
		}
	}
	return r.Body(rd.call.Body)
}

// whole returns the task with what is kept beside its record, as soon as the store tells it.
func (rd *round) whole(ctx context.Context, t *task.Task) (whole *task.Task, err error) {
	err = rd.insist(ctx, func(ctx context.Context) (err error) {
		whole, err = rd.l.Records.Whole(ctx, t)
		return err
	})
	return whole, err
}

// requestID is the raw JSON-RPC id of a round.
func requestID(token string, round int) []byte {
	return strconv.AppendQuote(nil, token+"-"+strconv.Itoa(round))
}

// Revoke tells the upstream of a legacy call of a task's that nobody wants the answer any
// more. c is the call.
func (r *Runner) Revoke(ctx context.Context, t *task.Task, c *task.Call) {
	if t.Round > 0 && t.Call != "" {
		r.Pools.Tell(ctx, t, c, mcp.Cancelled(requestID(t.Call, t.Round), "the task was given up"))
	}
}
