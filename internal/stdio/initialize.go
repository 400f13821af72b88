package stdio

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// initialize opens a session, at a process that is started for it or runs already.
func (s *Server) initialize(p patience, request *exchange.Request, message *mcp.Message) (*wire.Response, error) {
	c := &message.Calls[0]
	refused := s.checkOpening(request, message)
	var at *peer
	if refused == nil {
		at, refused = s.processFor(request.Caller, bytes.Clone(request.Body))
	}
	switch {
	case refused != nil && refused.Reason == ReasonCrashLoop:
		return nil, unstarted(refused)
	case refused != nil:
		return exchange.Refusal(refused, c.ID), nil
	}
	if _, err := await(p, at.ready); err != nil {
		s.leave(at)
		return nil, err
	}
	return s.open(at, request.Caller, c.ID)
}

func (s *Server) checkOpening(request *exchange.Request, message *mcp.Message) *mcp.Error {
	invalid := &mcp.Error{Status: wire.StatusBadRequest, Code: mcp.CodeInvalidRequest}
	switch {
	case message.Batch:
		invalid.Message = "Invalid Request: Only one initialization request is allowed"
		return invalid
	case message.Calls[0].Kind != mcp.KindRequest:
		invalid.Message = "Invalid Request: initialize has no id"
		return invalid
	case request.Header.Get(mcp.HeaderSession) == "":
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, unknown := s.sessionOf(request); unknown != nil {
		return unknown
	}
	invalid.Message = "Invalid Request: Server already initialized"
	return invalid
}

// processFor returns the process for a new session of this caller, which may still be starting.
func (s *Server) processFor(caller string, body []byte) (*peer, *mcp.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sessions) >= maxSessions {
		return nil, unavailable("too many sessions are open", mcp.ReasonOverloaded, time.Second)
	}
	key := s.shareKey(caller, body)
	standing := s.shared[key]
	if standing != nil && standing.isOld(time.Now()) {
		standing = nil
	}
	if standing != nil && !standing.silent {
		return standing, nil
	}
	opening := mcp.WithID(body, []byte("0"))
	wished := caller + "\x00" + string(opening)
	if p := s.spares[wished]; p != nil && key == "" {
		delete(s.spares, wished)
		return p, nil
	}
	p, refused := s.newPeer(opening)
	switch {
	case refused != nil && standing != nil: // it may speak again
		return standing, nil
	case refused != nil:
		return nil, refused
	}
	if p.wished = wished; key != "" {
		p.key, s.shared[key] = key, p
	}
	return p, nil
}

// shareKey is what sessions that share a process have in common: whose they are, unless they are everybody's, and the version and
// capabilities that the process is told, and answers by; "": the session shares none.
func (s *Server) shareKey(caller string, initialize []byte) string {
	switch {
	case s.options.Isolation == IsolateAll:
		return "all, " + saidBy(initialize)
	case s.options.Isolation == IsolatePrincipal && caller != "":
		return "of " + caller + ", " + saidBy(initialize)
	}
	return ""
}

// saidBy is a digest of what a client says in initialize that a server heeds.
func saidBy(initialize []byte) string {
	var said struct {
		Params struct {
			ProtocolVersion json.RawMessage `json:"protocolVersion"`
			Capabilities    json.RawMessage `json:"capabilities"`
		} `json:"params"`
	}
	_ = json.Unmarshal(initialize, &said) // one that cannot be read says nothing
	digest := sha256.Sum256(bytes.Join([][]byte{said.Params.ProtocolVersion, said.Params.Capabilities}, []byte{0}))
	return hex.EncodeToString(digest[:])
}

// leave takes note that whoever a process is started for waits no longer. A client that has a
// short patience comes again, with the same words, and finds it started.
func (s *Server) leave(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.key != "" || p.stopping || p.over {
		return
	}
	if s.spares[p.wished] != nil {
		p.stop("nobody waits for it")
		return
	}
	s.spares[p.wished] = p
}

// open opens a session at a process that is ready.
func (s *Server) open(p *peer, caller string, id []byte) (*wire.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case p.refusal != nil:
		return wire.Whole(wire.StatusOK, mcp.ErrorResponse(id, p.refusal)), nil
	case p.failure != nil:
		return nil, unstarted(p.failure)
	case p.stopping || p.over:
		return exchange.Refusal(failed("the process ended before its session was open", ReasonProcessExited, mcp.NotExecuted), id), nil
	}
	session := s.newSession(p, caller)
	response := wire.Whole(wire.StatusOK, mcp.Response(id, p.result))
	response.Header.Set(mcp.HeaderSession, session.id)
	return response, nil
}
