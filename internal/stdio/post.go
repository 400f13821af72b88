package stdio

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// maxBatch bounds the messages of a batch (2025-03-26).
const maxBatch = 100

// post serves a message or a batch.
func (s *Server) post(p patience, request *exchange.Request) (*wire.Response, error) {
	var message mcp.Message
	if id, refused := message.Peek(request.Body, maxBatch); refused != nil {
		return exchange.Refusal(refused, id), nil
	}
	first := &message.Calls[0]
	if refused := mcp.Classify(&message, request.Header); refused != nil {
		return exchange.Refusal(refused, first.ID), nil
	}
	if refused := checkVersion(&message, request.Header); refused != nil {
		return exchange.Refusal(refused, nil), nil // without an id, as of what was not looked at
	}
	if slices.ContainsFunc(message.Calls, func(c mcp.Call) bool { return c.Method == mcp.MethodInitialize }) {
		return s.initialize(p, request, &message)
	}
	var raws [][]byte
	for raw := range mcp.Messages(request.Body) { // Peek has read them
		raws = append(raws, raw)
	}
	return s.take(p, request, message.Calls, raws)
}

// checkVersion refuses what is not of the legacy era: strict servers exit on it. It does as the
// TypeScript SDK's server does, from which clients know what they speak to.
func checkVersion(message *mcp.Message, header *wire.Header) *mcp.Error {
	version := header.Get(mcp.HeaderVersion)
	known := version == "" || mcp.IsLegacyVersion(version)
	isModern := func(c mcp.Call) bool { return c.Era == mcp.EraModern || c.Method == mcp.MethodDiscover }
	if known && !slices.ContainsFunc(message.Calls, isModern) {
		return nil
	}
	return badRequest("Unsupported protocol version (supported versions: " + mcp.LegacyVersions() + ")")
}

// take gives the messages of a session to its process.
func (s *Server) take(p patience, request *exchange.Request, calls []mcp.Call, raws [][]byte) (*wire.Response, error) {
	s.mu.Lock()
	session, refused := s.sessionOf(request)
	if refused != nil {
		s.mu.Unlock()
		return exchange.Refusal(refused, nil), nil
	}
	session.touched = time.Now()
	var requests []*call
	var bodies [][]byte
	var unread *mcp.Error
	for i := range calls {
		if c := &calls[i]; c.Kind == mcp.KindRequest {
			requests, bodies = append(requests, newCall(session, c, raws[i])), append(bodies, raws[i])
		} else if refused := s.tell(session, c, raws[i]); refused != nil {
			unread = refused
		}
	}
	switch {
	case len(requests) == 0 && unread != nil: // what else there is may come again
		s.mu.Unlock()
		return turnAway(unread, nil), nil
	case len(requests) == 0:
		s.mu.Unlock()
		return wire.Whole(wire.StatusAccepted, nil), nil
	case len(requests) == 1 && answersInJSON(requests[0].method):
		return s.answer(p, requests[0], bodies[0])
	}
	return s.stream(p, requests, bodies)
}

// answersInJSON reports whether a method is answered at once, and without a word before.
func answersInJSON(method string) bool {
	switch method {
	case mcp.MethodPing, mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe, mcp.MethodGetTask, mcp.MethodCancelTask:
		return true
	}
	return strings.HasSuffix(method, "/list")
}

// onlyReads reports whether a method that is answered in JSON changes nothing.
func onlyReads(method string) bool {
	return mcp.IsPureRead(method) || mcp.ReadsTask(method) || method == mcp.MethodListTasks
}

// answer answers a request in JSON. s.mu is held, and given back.
func (s *Server) answer(p patience, c *call, body []byte) (*wire.Response, error) {
	session, at := c.session.id, c.session.peer
	c.answer = make(chan []byte, 1)
	var refused *mcp.Error
	if c.method == mcp.MethodUnsubscribe && at.wanted(c) {
		c.grant()
		c.deliver(mcp.Response(c.id, []byte("{}")))
	} else {
		refused = at.begin(c, body)
	}
	s.mu.Unlock()
	if refused != nil {
		return turnAway(refused, c.id), nil
	}
	message, err := await(p, c.answer)
	switch {
	case err != nil:
		return nil, err
	case c.lost:
		return nil, &exchange.SendError{Err: errProcessLost, Sent: true}
	}
	response := wire.Whole(wire.StatusOK, message)
	response.Header.Set(mcp.HeaderSession, session)
	return response, nil
}

// stream answers requests by a stream. s.mu is held, and given back.
func (s *Server) stream(p patience, requests []*call, bodies [][]byte) (*wire.Response, error) {
	defer s.mu.Unlock()
	session := requests[0].session
	st := session.newStream(len(requests))
	for i, c := range requests {
		c.stream = st
		if refused := s.beginSomewhere(c, bodies[i]); refused != nil {
			if len(requests) == 1 {
				session.drop(st)
				return turnAway(refused, c.id), nil
			}
			c.deliver(refused.Body(c.id))
		}
	}
	reader, err := st.read(p.ctx, -1)
	if err != nil { // nobody else knows the stream
		return nil, &exchange.SendError{Err: err, Sent: true}
	}
	return streaming(session.id, reader), nil
}

// beginSomewhere gives a call to its session's process, or to one of its own.
func (s *Server) beginSomewhere(c *call, body []byte) *mcp.Error {
	if s.options.Isolation == IsolateCall && c.method == mcp.MethodCallTool {
		return s.beginAlone(c, bytes.Clone(body))
	}
	return c.session.peer.begin(c, body)
}
