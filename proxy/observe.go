package proxy

import (
	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/offer"
	"berth/internal/wire"
	"berth/proxy/announce"
	"berth/proxy/audit"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/lingering"
	"berth/proxy/record"
	"berth/proxy/reply"
	"berth/routing"
)

// peeked is what a piece of an answer says, read once for all who ask.
type peeked struct {
	mcp.Answer
	err error // why it is no message that can be read; a batch is none
}

// peek reads a message of the answer to c.
func (p *peeked) peek(c *inbound.Call, message []byte, cut bool) {
	if len(message) == 0 {
		return
	}
	asked := ""
	if one := c.Single(); one != nil {
		asked = one.TaskID
	}
	p.err = p.PeekTo(asked, message, cut)
}

// isAnothers reports whether what was read, of an answer to c that is one message, is the response to another request than those in it:
// somebody else is to have it. Where c is none it may be the response to any.
func (p *peeked) isAnothers(c *inbound.Call) bool {
	if p.err != nil || !p.HasID() {
		return false
	}
	asked := false
	for i := range c.Message.Calls {
		one := &c.Message.Calls[i]
		if one.Kind != mcp.KindRequest {
			continue
		}
		if asked = true; !p.IsCrossed(one.ID) || p.MayAnswer(one.ID) {
			return false
		}
	}
	return asked
}

// isMute reports whether what was read, where it is the response to another request, as another says, tells nothing of that of c either: it
// may hand out a task within the session.
func (p *peeked) isMute(c *inbound.Call, another bool) bool {
	return another && (!p.CreatesTask() || c.AboutTask)
}

// responseID is the id of what was read where that is a response; nil: it is none.
func (p *peeked) responseID() []byte {
	if p.Method != "" || !p.HasResult && !p.IsError {
		return nil
	}
	return p.ID
}

// observe looks at what a piece of an answer says and records it, before the
// piece is released. instead, if not nil, is a message of our own to give to the
// client in its place; an error means that it must be withheld. strict says that
// an answer which cannot be understood is one of these.
func (x *request) observe(u *routing.Upstream, piece *exchange.Piece, says *peeked, strict bool) (instead []byte, err error) {
	x.change.Done()
	if len(piece.Message) == 0 {
		return nil, nil
	}
	x.announced.Observe(piece)
	if !mcp.IsBatch(piece.Message) {
		return x.observeMessage(u, piece.Message, says, strict)
	}
	for message, err := range mcp.Messages(piece.Message) {
		if err != nil && piece.Cut {
			return nil, nil // the batch goes on
		}
		one := peeked{err: err}
		if err == nil {
			one.peek(x.Call, message, piece.Cut)
		}
		if one.isMute(x.Call, one.isAnothers(x.Call)) {
			continue
		}
		if instead, err := x.observeMessage(u, message, &one, strict); instead != nil || err != nil {
			return instead, err
		}
	}
	return nil, nil
}

// observeMessage is observe of one message.
func (x *request) observeMessage(u *routing.Upstream, message []byte, says *peeked, strict bool) (instead []byte, err error) {
	x.made.Observe(u, message)
	switch {
	case says.err == nil:
		if x.HTTP.Method == wire.MethodGet && says.HasResult && says.Task.ID == "" { // what tells of a task's state is no outcome
			x.recorder.Resumed(u, message, &says.Answer)
		}
		return x.record(u, &says.Answer, strict)
	case !strict:
		return nil, nil
	case x.MayCreateTask:
		x.Way().Withdraw(u, says.Task.ID)
	}
	return nil, fault.BrokenOff(says.err)
}

// record notes what one message of an answer tells. strict is that of observe.
func (x *request) record(u *routing.Upstream, a *mcp.Answer, strict bool) (instead []byte, err error) {
	if a.Method != "" {
		return nil, nil
	}
	x.owed.begin(a)
	c := x.Single()
	x.rec.ToolFailed = a.ToolFailed
	if a.IsError && a.ErrorCode == mcp.CodeInvalidParams && x.Decision.Unasked != nil {
		return nil, x.Decision.Unasked // the task may be elsewhere, and what this one says would be final
	}
	if a.IsError {
		return x.recordError(u, c, a, strict)
	}
	x.recorder.Affinities(u, c, a, x.left)
	if c != nil && a.Result != nil && (c.Method == mcp.MethodInitialize || c.Method == mcp.MethodDiscover) {
		u.Declares(c.Era, offer.In(a.Result))
	}
	switch {
	case c != nil && c.IsTask() && c.Method == mcp.MethodDeleteTask:
		x.recorder.Deleted(u)
		x.rec.Does(audit.Deleted, "")
		return nil, nil
	case c != nil && c.IsTask():
		return nil, x.recordTask(u, c, a)
	case a.CreatesTask():
		err := x.recorder.Creation(x.Way(), u, a, x.rec.Origin())
		x.rec.Does(audit.Made, a.Task.ID)
		x.made.Disown(a) // the server made the id
		if err == nil {
			x.rec.Task = a.Task.ID
		}
		return nil, err
	case c == nil:
		return nil, nil
	case c.Method == mcp.MethodInitialize:
		x.recorder.NoteSessions(u)
		return nil, x.recorder.BindSession(x.Way(), u, a.Version, x.announced.Promised())
	}
	failover.Granted(x.Case())
	x.recorder.Hint(u, c, a)
	return nil, nil
}

// recordError notes what an error tells, and returns what the client is told instead, nil for
// nothing. It fails where that would be final, and is not known.
func (x *request) recordError(u *routing.Upstream, c *mcp.Call, a *mcp.Answer, strict bool) (instead []byte, err error) {
	x.rec.Code = a.ErrorCode
	x.made.Disown(a)
	if a.ErrorCode == mcp.CodeMethodNotFound {
		if instead := insteadOfNoMethod(x.p.announcers[x.Endpoint], x.Call, &x.Decision, &x.rec); instead != nil {
			return instead, nil
		}
	}
	instead, err = x.recorder.Error(u, c, a)
	if instead == nil && err == nil && strict {
		x.recorder.Failure(u, c, a, isUnread(x.out, x.reads))
	}
	return instead, err
}

// isUnread reports whether the client is there no more, so that what is answered is given to nobody.
func isUnread(out *reply.Writer, reads *lingering.Exchange) bool {
	_, lost := out.Given()
	return lost || reads != nil && reads.HasLeft()
}

// insteadOfNoMethod is what the client is told where the upstream has no method of what was announced; nil: it was not.
func insteadOfNoMethod(by *announce.Announcer, c *inbound.Call, at *routing.Decision, rec *audit.Record) []byte {
	if !by.Serves(c, at) {
		return nil
	}
	rec.Code = mcp.ErrUnknownTask.Code
	return mcp.ErrUnknownTask.Body(c.ID)
}

// recordTask notes what an answer tells of the task that was asked about. It fails if that is
// another principal's by now.
func (x *request) recordTask(u *routing.Upstream, c *mcp.Call, a *mcp.Answer) error {
	if record.TellsState(c, a) {
		if err := x.made.Told(u, a.Task.Status); err != nil {
			return err
		}
	}
	if x.recorder.Task(u, c, x.poll, a, isUnread(x.out, x.reads)) {
		x.rec.Does(audit.Told, "")
	}
	switch c.Method {
	case mcp.MethodCancelTask:
		x.rec.Does(audit.Cancelled, "")
	case mcp.MethodUpdateTask:
		x.rec.Does(audit.Answered, "")
	}
	return nil
}
