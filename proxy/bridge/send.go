package bridge

import (
	"context"
	"errors"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/eras"
	"berth/internal/mcp/offer"
	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/sessions"
	"berth/proxy/bridge/tools"
	"berth/proxy/outbound"
)

// sent is a call that was sent, and the beginning of its answer. What it is sent over outlives its
// client's request, which may end with a question.
type sent struct {
	*wire.Response
	id   []byte // raw JSON-RPC id of the call in its session
	flow *flow.Flow
	ask  *flow.Item // what came on the session's own stream before the answer began; nil: nothing
}

// close ends what was sent. became is the task that the call has become, as the server knows it; "": none.
func (s *sent) close(l *sessions.Session, became string) {
	if s.Response != nil {
		s.Body.Close()
	}
	l.Over(s.flow, became)
}

// prepare sees to it that the call may be sent in a session.
func (c *call) prepare(ctx context.Context, l *sessions.Session) error {
	if capability := needs[c.Method]; capability != "" && !offer.HasCapability(l.Result, capability) && !mayComplete(c.Method, l.Version) {
		return errNoMethod
	}
	if c.Method == mcp.MethodCallTool {
		support, refusal := c.f.tools.Check(ctx, c.ofTool(l))
		if c.support = support; refusal != nil {
			return refusal
		}
	}
	l.SetLevel(ctx, c.who.Out, c.who.Client.LogLevel)
	if asks(c.Method) {
		l.Listen(ctx, c.who.Out, "")
		letAskEarly(ctx, l, &c.who.Client)
	}
	return nil
}

// legacyForm is the call as it is sent in a session, under an id of that.
func (c *call) legacyForm(l *sessions.Session, id []byte) ([]byte, error) {
	var token []byte
	if c.ProgressToken != nil {
		token = id
	}
	body, err := eras.LegacyForm(c.who.Out.Body, id, token)
	if err != nil {
		return nil, err
	}
	if c.Method != mcp.MethodCallTool || !offer.HasCoreTasks(l.Result) {
		return body, nil
	}
	body, c.tasked, err = asTask(c.Call, c.support, body)
	return body, err
}

// ofTool is the call as one of a tool's.
func (c *call) ofTool(l *sessions.Session) tools.Call {
	return tools.Call{Tool: c.Name, Caller: c.who.Caller, Tasks: c.DeclaresTasks, Session: l, Out: c.who.Out}
}

// isOfTheWrongForm reports whether the server, which has refused the call with -32601, has done so since its tool takes part in tasks by
// now, or does not any more: nothing has run (2025-11-25, tasks, "Tool-Level Negotiation"). A call is sent once more for this.
func (c *call) isOfTheWrongForm(ctx context.Context, l *sessions.Session) bool {
	if c.Method != mcp.MethodCallTool || c.reformed || !offer.HasCoreTasks(l.Result) {
		return false
	}
	c.reformed = true
	c.support = c.f.tools.SupportNow(ctx, c.ofTool(l))
	if c.tasked {
		return c.support != taskwire.Required && c.support != taskwire.Optional
	}
	return c.support == taskwire.Required
}

// sendAnew sends the call once more, in the other form.
func (c *call) sendAnew(ctx context.Context, l *sessions.Session) (*wire.Response, error) {
	s, err := c.send(ctx, l)
	if err != nil {
		return nil, err
	}
	return c.follow(ctx, l, s)
}

// send sends the call in a session, which it gives back where it fails.
func (c *call) send(ctx context.Context, l *sessions.Session) (*sent, error) {
	s := &sent{id: outbound.NewID()}
	body, err := c.legacyForm(l, s.id)
	if err != nil {
		l.GiveBack(false)
		return nil, err
	}
	s.flow = l.Answer(c.who.Out, s.id, asks(c.Method))
	if err := c.post(ctx, l, s, body); err != nil {
		c.letGo(ctx, l, s, err)
		return nil, err
	}
	return s, nil
}

// letGo gives a session back in which a call has failed without an answer. The upstream is told if its client has left.
func (c *call) letGo(ctx context.Context, l *sessions.Session, s *sent, err error) {
	failed, ok := errors.AsType[*exchange.SendError](err)
	switch unsent := ok && !failed.Sent; {
	case !unsent && ctx.Err() != nil:
		go c.cancel(l, s.flow, s.id, context.Cause(ctx))
	case unsent:
		l.Over(s.flow, "")
		l.GiveBack(false)
	default:
		l.Over(s.flow, "")
		l.GiveBackUnended()
	}
}

// post sends the body, and waits for the answer's headers, or for what the upstream asks on the
// session's own stream before it has them.
func (c *call) post(ctx context.Context, l *sessions.Session, s *sent, body []byte) error {
	if !l.IsHeard() && !c.tasked {
		hungUp := context.AfterFunc(ctx, s.flow.Stop)
		defer hungUp()
		var err error
		s.Response, err = l.Send(s.flow.Context(), c.who.Out, wire.MethodPost, body, 0)
		return err
	}
	heads := l.Start(s.flow.Context(), c.who.Out, body)
	select {
	case head := <-heads:
		s.Response = head.Response
		return head.Err
	case it := <-s.flow.Inbox:
		s.ask = it
		go s.flow.RunWhen(heads)
		return nil
	case <-ctx.Done():
		go s.flow.RunWhen(heads) // until it is stopped
		return &exchange.SendError{Err: context.Cause(ctx), Sent: true}
	}
}
