package stdio

import (
	"bytes"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/stdio/process"
)

// What is remembered of a process: calls in flight, and those that have made tasks.
const (
	maxCalls = 1024
	maxTasks = 256
)

// call is a request in flight at a process. The server's mutex guards it.
type call struct {
	session   *session // nil: berth's own
	peer      *peer    // nil: not begun
	number    int64    // its id, and the token of its progress, towards the process
	id        []byte   // what the client calls it, raw
	token     []byte   // the client's for progress, raw; nil: none is wished
	method    string
	taskID    string // of the task that it is about, or has made
	wish      string // what its session is to hear, where it is about that
	asksTask  bool   // it is to be answered with a task
	begun     time.Time
	cancelled bool
	awaited   time.Time // until when its client counts as waiting for the task that it has made

	stream *stream     // where its answer goes,
	answer chan []byte // or, with room for it, that
	lost   bool        // it changes nothing, and its process has ended: it may be sent again
}

// newCall returns a call that is not begun. Nothing in it aliases the body.
func newCall(session *session, c *mcp.Call, raw []byte) *call {
	return &call{session: session, id: bytes.Clone(c.ID), token: bytes.Clone(mcp.ProgressToken(raw)),
		method: c.Method, taskID: c.TaskID, wish: wishOf(c.Method, raw), asksTask: c.AsksTask(), begun: time.Now()}
}

// mayAsk reports whether the process may need its client for it, and may have that.
func (c *call) mayAsk() bool { return c.stream != nil && !c.cancelled }

// deliver gives a call its answer, the only one.
func (c *call) deliver(message []byte) {
	if c.stream != nil {
		c.stream.answer(message)
		c.session.forgetStreams(time.Time{})
		return
	}
	c.answer <- message
}

// begin sends a call to the process under a number of its own.
func (p *peer) begin(c *call, body []byte) *mcp.Error {
	if refused := c.mayWish(body); refused != nil {
		return refused
	}
	if refused := p.register(c); refused != nil {
		return refused
	}
	return p.dispatch(c, body)
}

// register gives a call its number.
func (p *peer) register(c *call) *mcp.Error {
	switch {
	case p.stopping || p.over:
		return failed("the process has ended", ReasonProcessExited, mcp.NotExecuted)
	case len(p.calls) >= maxCalls:
		return errManyCalls
	}
	p.next++
	c.peer, c.number = p, p.next
	p.calls[c.number] = c
	if c.session != nil {
		c.session.calls[c] = struct{}{}
		p.server.keepWatching()
	}
	return nil
}

// dispatch sends a registered call.
func (p *peer) dispatch(c *call, body []byte) *mcp.Error {
	if c.session != nil {
		p.initialize()
	}
	line := mcp.WithID(body, number(c.number))
	if c.token != nil {
		line = mcp.WithToken(line, number(c.number))
	}
	if errors.Is(p.push(c.session, line), process.ErrFull) {
		p.forget(c)
		return errBusy
	}
	return nil // a process that is ending fails its calls when it is gone
}

// finish ends a call with this answer.
func (p *peer) finish(c *call, message []byte) {
	p.forget(c)
	c.deliver(message)
	if p.alone {
		p.stop("its call is over")
	}
}

func (p *peer) forget(c *call) {
	delete(p.calls, c.number)
	if c.session != nil {
		delete(c.session.calls, c)
	}
}

// cancel tells the process that a client wants no answer any more. A process that is silent about
// it, as it may be (2025-11-25, cancellation), is not waited for long.
func (s *Server) cancel(session *session, raw []byte) {
	c := session.callOf(mcp.CancelledID(raw))
	if c == nil || c.cancelled {
		return
	}
	p := c.peer
	c.cancelled = true
	p.left.add(c, time.Now().Add(s.timing.left))
	p.push(session, mcp.WithCancelledID(raw, number(c.number)))
	time.AfterFunc(s.timing.cancel, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if p.calls[c.number] == c {
			p.finish(c, failed("the client cancelled the call", ReasonCancelled, mcp.Unknown).Body(c.id))
		}
	})
}

// callOf returns the call that the client means by a raw id: the last that it began.
func (s *session) callOf(id []byte) (found *call) {
	if id == nil {
		return nil
	}
	key := mcp.IDKey(id)
	for c := range s.calls {
		if mcp.IDKey(c.id) == key && (found == nil || c.begun.After(found.begun)) {
			found = c
		}
	}
	return found
}
