package bridge

import (
	"context"
	"errors"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/eras"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/bridge/sessions"
	"berth/proxy/fault"
	"berth/proxy/outbound"
)

// call is one modern request on its way to an upstream of the legacy era.
type call struct {
	*mcp.Call // aliases message

	f       *face
	who     sessions.Borrower // in whose name the upstream is spoken to
	came    *exchange.Request // as it would go to a modern server
	message mcp.Message
	id      []byte         // raw JSON
	lacks   map[string]any // what the upstream asked for that the client has not declared
	tasked  bool           // the call was sent, in this round or one before, as one that becomes a task
	became  string         // the task that it has become, as the server knows it; "": none

	progress    float64 // that its client was told last
	hasProgress bool    // it was told some

	support  string // what its tool says of tasks; "": nothing
	reformed bool   // whether the server refuses it for its form was looked at
}

// serve answers the request.
func (c *call) serve(ctx context.Context) (*wire.Response, error) {
	switch {
	case c.Method == mcp.MethodCancelled && c.RequestState != "":
		return answered(ctx, c.id, c.giveUp)
	case c.Method == mcp.MethodIsMoot && c.RequestState != "":
		return answered(ctx, c.id, c.answerMoot)
	case c.Kind == mcp.KindNotification: // a modern client's mean nothing to a session that it does not know
		return wire.Whole(wire.StatusAccepted, nil), nil
	case absent(c.Method):
		return exchange.Refusal(errNoMethod, c.id), nil
	case isOfTask(c.Method):
		return answered(ctx, c.id, c.serveTask)
	case c.Method == mcp.MethodListen:
		return answered(ctx, c.id, c.listen)
	case c.RequestState != "" && asks(c.Method):
		return answered(ctx, c.id, c.retry)
	case isList(c.Method) && c.Cursor != "":
		return answered(ctx, c.id, c.turnPage)
	}
	return answered(ctx, c.id, c.begin)
}

// answered is what serve returns, or the error that is an answer to the request that id names.
func answered(ctx context.Context, id []byte, serve func(ctx context.Context) (*wire.Response, error)) (*wire.Response, error) {
	response, err := serve(ctx)
	_, unanswered := errors.AsType[*exchange.SendError](err)
	if err == nil || unanswered || ctx.Err() != nil {
		return response, err
	}
	refusal := fault.Word(err, false)
	switch {
	case refusal == nil:
		return nil, err
	case errors.Is(err, sessions.ErrTurnedAway), errors.Is(err, storage.ErrUnavailable):
		return exchange.TurnedAway(refusal, id), nil
	}
	return exchange.Refusal(refusal, id), nil
}

// begin sends the call in a session of its caller's. Where the upstream does not know the session
// it did nothing, and the call is sent once more in a new one; likewise where it kept no sessions, and demands one by now.
func (c *call) begin(ctx context.Context) (*wire.Response, error) {
	if err := c.CheckRequestState(); err != nil && asks(c.Method) {
		return nil, err
	}
	var refused *wire.Response // where the upstream kept no session; nil: it did not
	for again := true; ; again = false {
		l, err := c.f.sessions.Lend(ctx, c.f.u, &c.who, c.mayBeAsked())
		switch {
		case refused != nil && (err != nil || l.ID == ""):
			if err == nil {
				l.GiveBack(false)
			}
			return refused, nil // it demands none: the refusal is about the call
		case err != nil:
			return nil, err
		}
		if c.Method == mcp.MethodDiscover {
			defer l.GiveBack(false)
			return wire.Whole(wire.StatusOK, mcp.Response(c.id, eras.DiscoverFrom(l.Result, modernVersion))), nil
		}
		err = c.prepare(ctx, l)
		if err == nil {
			var early *wire.Response
			if early, err = c.askEarly(ctx, l); early != nil {
				return early, nil
			}
		}
		if err != nil {
			l.GiveBack(false)
			return nil, err
		}
		response, err := c.send(ctx, l)
		if err != nil {
			return nil, err
		}
		if again && response.ask == nil && outbound.DeniesSession(response.Status) && l.IsDenied(ctx, c.who.Out) {
			response.close(l, "")
			l.Deny()
			continue
		}
		demands := again && l.ID == "" && response.ask == nil && outbound.DeniesSession(response.Status) && l.IsRefused(ctx, c.who.Out)
		answer, err := c.follow(ctx, l, response)
		if err != nil || !demands {
			return answer, err
		}
		l.Outdate()
		refused = answer
	}
}

// about is what a call's states and cursors are good for: one caller, in one pool. They are sealed for the first.
func (c *call) about() [][]string { return c.who.About(c.f.u.Pool().Name()) }

// mayBeAsked reports whether an upstream may ask the client in mid-call.
func (c *call) mayBeAsked() bool {
	return asks(c.Method) && c.who.Client.Asked()
}
