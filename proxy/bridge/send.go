package bridge

import (
	"context"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// sent is a call that was sent, and the beginning of its answer. What it is sent over outlives its
// client's request, which may end with a question.
type sent struct {
	*wire.Response
	id   []byte // raw JSON-RPC id of the call in its session
	flow *flow
	ask  *item // what came on the session's own stream before the answer began; nil: nothing
}

func (s *sent) close() {
	if s.Response != nil {
		s.Body.Close()
	}
	s.flow.leave()
}

// prepare sees to it that the call may be sent in a session.
func (c *call) prepare(ctx context.Context, l *loan) error {
	if capability := needs[c.Method]; capability != "" && !mcp.HasCapability(l.result, capability) {
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
	s := &sent{id: newID()}
	body, err := c.legacyForm(l, s.id)
	if err != nil {
		return nil, err
	}
	s.flow = newFlow(c, l, s.id)
	if err := c.post(ctx, s, body); err != nil {
		s.flow.leave()
		if ctx.Err() != nil {
			go c.f.tell(ctx, c.out, l, mcp.Cancelled(s.id, hangUp))
		}
		return nil, err
	}
	return s, nil
}

// begun is how an answer begins.
type begun struct {
	*wire.Response
	err error
}

// post sends the body, and waits for the answer's headers, or for what the upstream asks on the
// session's own stream before it has them.
func (c *call) post(ctx context.Context, s *sent, body []byte) error {
	if !s.flow.l.isHeard() {
		hungUp := context.AfterFunc(ctx, s.flow.stop)
		defer hungUp()
		var err error
		s.Response, err = c.f.send(s.flow.ctx, c.out, s.flow.l, wire.MethodPost, body, 0)
		return err
	}
	heads := c.start(s.flow, body)
	select {
	case head := <-heads:
		s.Response = head.Response
		return head.err
	case it := <-s.flow.inbox:
		s.ask = it
		go s.flow.runWhen(heads)
		return nil
	case <-ctx.Done():
		go func() {
			if head := <-heads; head.err == nil {
				head.Body.Close()
			}
		}()
		return &exchange.SendError{Err: context.Cause(ctx), Sent: true}
	}
}

// start sends the body, and returns how its answer will begin.
func (c *call) start(fl *flow, body []byte) <-chan begun {
	heads := make(chan begun, 1)
	go func() {
		response, err := c.f.send(fl.ctx, c.out, fl.l, wire.MethodPost, body, 0)
		heads <- begun{response, err}
	}()
	return heads
}

// hangUp is what an upstream is told of a client's departure.
const hangUp = "the client has hung up"

// setLevel has the session say as much as the client wants to hear of this call. A server that
// does not take it says what it says.
func (c *call) setLevel(ctx context.Context, l *loan) {
	level := mcp.Severity(c.client.LogLevel)
	if level < 0 || !mcp.HasCapability(l.result, "logging") {
		return
	}
	l.setting.Lock()
	defer l.setting.Unlock()
	if l.level >= 0 && l.level <= level {
		return
	}
	if _, err := c.f.ask(ctx, c.out, l, mcp.MethodSetLevel, map[string]any{"level": c.client.LogLevel}); err == nil {
		l.level = level
	}
}
