package bridge

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strconv"
	"sync/atomic"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
)

// call is one modern request on its way to an upstream of the legacy era.
type call struct {
	*mcp.Call // aliases message

	f       *face
	out     *exchange.Request // in whose name the upstream is spoken to
	came    *exchange.Request // as it would go to a modern server
	message mcp.Message
	id      []byte // raw JSON
	client  mcp.Client
	caller  string
	lacks   map[string]any // what the upstream asked for that the client has not declared
	tasks   *loan          // in which the call was asked to become a task; nil: it was not
}

// serve answers the request.
func (c *call) serve(ctx context.Context) (*wire.Response, error) {
	switch {
	case c.Kind == mcp.KindNotification: // a modern client's mean nothing to a session that it does not know
		return whole(wire.StatusAccepted, nil), nil
	case absent(c.Method):
		return refuse(c.id, errNoMethod), nil
	case isOfTask(c.Method):
		return c.answered(ctx, c.serveTask)
	case c.Method == mcp.MethodListen:
		return c.answered(ctx, c.listen)
	case c.RequestState != "" && asks(c.Method):
		return c.answered(ctx, c.retry)
	}
	return c.answered(ctx, c.begin)
}

// answered is what serve returns, or the error that is an answer.
func (c *call) answered(ctx context.Context, serve func(ctx context.Context) (*wire.Response, error)) (*wire.Response, error) {
	response, err := serve(ctx)
	_, unanswered := errors.AsType[*exchange.SendError](err)
	if err == nil || unanswered || ctx.Err() != nil {
		return response, err
	}
	if refusal := fault.Word(err, false); refusal != nil {
		return refuse(c.id, refusal), nil
	}
	return nil, err
}

// begin sends the call in a session of its caller's. Where the upstream does not know the session
// it did nothing, and the call is sent once more in a new one.
func (c *call) begin(ctx context.Context) (*wire.Response, error) {
	for again := true; ; again = false {
		l, err := c.lend(ctx, c.mayBeAsked())
		if err != nil {
			return nil, err
		}
		if c.Method == mcp.MethodDiscover {
			defer l.giveBack(false)
			return whole(wire.StatusOK, mcp.Response(c.id, mcp.DiscoverFrom(l.result, modernVersion))), nil
		}
		response, err := c.send(ctx, l)
		if err != nil {
			l.giveBack(false)
			return nil, err
		}
		if again && l.id != "" && response.ask == nil && outbound.DeniesSession(response.Status) {
			response.close()
			l.giveBack(true)
			continue
		}
		return c.follow(ctx, l, response)
	}
}

// mayBeAsked reports whether an upstream may ask the client in mid-call.
func (c *call) mayBeAsked() bool {
	return asks(c.Method) && len(c.client.AsksClient()) > len("{}")
}

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

// send sends the call in a session.
func (c *call) send(ctx context.Context, l *loan) (*sent, error) {
	if capability := needs[c.Method]; capability != "" && !mcp.HasCapability(l.result, capability) {
		return nil, errNoMethod
	}
	if refusal := c.checkParams(ctx, l); refusal != nil {
		return nil, refusal
	}
	c.setLevel(ctx, l)
	if asks(c.Method) {
		l.listen(ctx, c.out, "")
	}
	s := &sent{id: newID()}
	var token []byte
	if c.ProgressToken != nil {
		token = s.id
	}
	body, err := mcp.LegacyForm(c.out.Body, s.id, token)
	if err != nil {
		return nil, err
	}
	if body, err = c.asTask(l, body); err != nil {
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
	heads := make(chan begun, 1)
	go func() {
		response, err := c.f.send(s.flow.ctx, c.out, s.flow.l, wire.MethodPost, body, 0)
		heads <- begun{response, err}
	}()
	select {
	case head := <-heads:
		s.Response = head.Response
		return head.err
	case it := <-s.flow.inbox:
		s.ask = &it
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

// ids are JSON-RPC ids of this process: no other's are like them, so that a session may go from
// one berth to another.
var ids = struct {
	prefix string
	last   atomic.Int64
}{prefix: randomName()}

func randomName() string {
	var name [9]byte
	_, _ = rand.Read(name[:]) // it never fails
	return base64.RawURLEncoding.EncodeToString(name[:])
}

// newID returns a raw JSON-RPC id.
func newID() []byte {
	return strconv.AppendQuote(nil, "berth-"+ids.prefix+"-"+strconv.FormatInt(ids.last.Add(1), 36))
}
