package legacyface

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// maxCalls bounds the calls that are under way in a session.
const maxCalls = 1024

// call is a request of the client's that the server has not answered.
type call struct {
	key    string // the id that the server knows
	id     []byte // raw, as the client made it
	order  int    // among the calls of its session
	asks   bool   // the server may ask the client because of it
	token  string // of its progress, as mcp.IDKey has it; "" for none
	stream *stream
	taken  chan struct{} // closed when the connection has taken it, or has failed to

	// What follows is written before answered is closed.
	answered chan struct{} // closed when there is something to answer with
	begun    bool          // answered is closed
	response []byte        // to a call without a stream
	failed   *mcp.Error    // why there will be no response of the server's
}

// asking are the methods during which a server asks (2025-11-25: elicitation, sampling, roots;
// tasks, "Input Required Status").
var asking = []string{mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource, mcp.MethodTaskResult}

// streams reports whether a call is answered by a stream.
func streams(m *mcp.Call, header *wire.Header) bool {
	if !header.Streams() {
		return false
	}
	return slices.Contains(asking, m.Method) || len(m.ProgressToken) > 0 || !mcp.IsKnownMethod(m.Method)
}

func (s *session) inFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.calls)
}

// enter notes a call that begins.
func (s *session) enter(m *mcp.Call, streamed bool) (*call, *mcp.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.over:
		return nil, mcp.ErrUnknownSession
	case len(s.calls) >= maxCalls:
		return nil, errBusy
	}
	s.begun++
	c := &call{
		key: strconv.FormatInt(s.face.lastID.Add(1), 10), id: bytes.Clone(m.ID), order: s.begun,
		asks: slices.Contains(asking, m.Method), taken: make(chan struct{}), answered: make(chan struct{}),
	}
	if m.Method == mcp.MethodInitialize { // the first, and the one of its session: some servers answer it under no other id than SDKs' clients give it
		c.key = "0"
	}
	if len(m.ProgressToken) > 0 {
		c.token = mcp.IDKey(m.ProgressToken)
	}
	if streamed {
		c.stream = &stream{number: s.begun}
		c.stream.prime(s.version >= mcp.VersionCoreTasks)
		s.streams[c.stream.number] = c.stream
	}
	s.calls[c.key] = c
	return c, nil
}

// answer notes that there is something to answer c with. The caller holds mu.
func (c *call) answer() {
	if !c.begun {
		c.begun = true
		close(c.answered)
	}
}

// finish ends a call with a response. The caller holds mu.
func (s *session) finish(c *call, response []byte, failed *mcp.Error) {
	delete(s.calls, c.key)
	s.used = time.Now()
	c.failed = failed
	if c.stream == nil {
		c.response = response
		c.answer()
		return
	}
	c.stream.add(response)
	s.keep(c.stream)
	s.unask(c.stream)
	c.answer()
}

// cancellable is how long a call whose client has left before the answer began may still be cancelled: who hangs up says so after that.
const cancellable = 30 * time.Second

// abandon forgets a call of which nobody can learn the answer any more. It is false if there
// is an answer, or some of it.
func (s *session) abandon(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.begun {
		return false
	}
	delete(s.calls, c.key)
	if c.stream != nil {
		delete(s.streams, c.stream.number)
	}
	return true
}

// request answers a request in the session.
func (s *session) request(ctx context.Context, request *exchange.Request, m *mcp.Call, wait time.Duration) (*wire.Response, error) {
	c, refused := s.enter(m, streams(m, request.Header))
	switch {
	case refused == errBusy:
		return exchange.TurnedAway(refused, m.ID), nil
	case refused != nil:
		return exchange.Refusal(refused, m.ID), nil
	}
	answer, err := s.ask(ctx, request, c, wait)
	switch {
	case answer != nil || err != nil:
		return answer, err
	case c.stream != nil:
		return s.read(ctx, c.stream, fresh)
	case c.failed != nil && m.Method == mcp.MethodPing && s.isOver(): // who asks whether there is a session is told that there is none
		return exchange.Refusal(mcp.ErrUnknownSession, c.id), nil
	case c.failed != nil && c.failed != errEnded && c.failed.Reason == mcp.ReasonSessionLost && strings.HasSuffix(m.Method, "/list"): // it changes nothing, and may be sent again
		return nil, &exchange.SendError{Err: errLost, Sent: true}
	case c.failed != nil:
		return exchange.Refusal(c.failed, c.id), nil
	}
	return wire.Whole(wire.StatusOK, c.response), nil
}
