package bridge

import (
	"context"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/legacy"
)

// sent is a call that was sent, and the beginning of its answer. What it is sent over outlives its
// client's request, which may end with a question.
type sent struct {
	*wire.Response
	l    *loan
	id   []byte // raw JSON-RPC id of the call in its session
	flow *flow.Flow
	ask  *flow.Item // what came on the session's own stream before the answer began; nil: nothing
}

func (s *sent) close() {
	if s.Response != nil {
		s.Body.Close()
	}
	s.l.leave(s.flow)
}

// prepare sees to it that the call may be sent in a session.
func (c *call) prepare(ctx context.Context, l *loan) error {
	if capability := needs[c.Method]; capability != "" && !mcp.HasCapability(l.Result, capability) {
		return errNoMethod
	}
	if refusal := c.checkParams(ctx, l); refusal != nil {
		return refusal
	}
	c.setLevel(ctx, l)
	if asks(c.Method) {
		l.listen(ctx, c.out, "")
		c.letGreet(ctx, l)
	}
	return nil
}

// legacyForm is the call as it is sent in a session, under an id of that.
func (c *call) legacyForm(l *loan, id []byte) ([]byte, error) {
	var token []byte
	if c.ProgressToken != nil {
		token = id
	}
	body, err := mcp.LegacyForm(c.out.Body, id, token)
	if err != nil {
		return nil, err
	}
	return c.asTask(l, body)
}

// send sends the call in a session.
func (c *call) send(ctx context.Context, l *loan) (*sent, error) {
	s := &sent{l: l, id: legacy.NewID()}
	body, err := c.legacyForm(l, s.id)
	if err != nil {
		return nil, err
	}
	s.flow = l.answer(c.out, s.id, asks(c.Method))
	if err := c.post(ctx, s, body); err != nil {
		s.l.leave(s.flow)
		if ctx.Err() != nil {
			go l.Tell(ctx, c.out, mcp.Cancelled(s.id, hangUp))
		}
		return nil, err
	}
	return s, nil
}

// post sends the body, and waits for the answer's headers, or for what the upstream asks on the
// session's own stream before it has them.
func (c *call) post(ctx context.Context, s *sent, body []byte) error {
	if !s.l.isHeard() {
		hungUp := context.AfterFunc(ctx, s.flow.Stop)
		defer hungUp()
		var err error
		s.Response, err = s.l.Send(s.flow.Context(), c.out, wire.MethodPost, body, 0)
		return err
	}
	heads := s.l.Start(s.flow.Context(), c.out, body)
	select {
	case head := <-heads:
		s.Response = head.Response
		return head.Err
	case it := <-s.flow.Inbox:
		s.ask = it
		go s.flow.RunWhen(heads)
		return nil
	case <-ctx.Done():
		go func() {
			if head := <-heads; head.Err == nil {
				head.Body.Close()
			}
		}()
		return &exchange.SendError{Err: context.Cause(ctx), Sent: true}
	}
}

// hangUp is what an upstream is told of a client's departure.
const hangUp = "the client has hung up"

// setLevel has the session say as much as the client wants to hear of this call. A server that
// does not take it says what it says.
func (c *call) setLevel(ctx context.Context, l *loan) {
	level := mcp.Severity(c.client.LogLevel)
	if level < 0 || !mcp.HasCapability(l.Result, "logging") {
		return
	}
	l.setting.Lock()
	defer l.setting.Unlock()
	if l.level >= 0 && l.level <= level {
		return
	}
	if _, err := l.Ask(ctx, c.out, mcp.MethodSetLevel, map[string]any{"level": c.client.LogLevel}); err == nil {
		l.level = level
	}
}
