package stdio

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/eras"
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
		return turnAway(refused, c.ID), nil
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

// processFor returns the process for a new session of this caller, which may still be starting. The session is one of those that are
// being opened there until open or leave.
func (s *Server) processFor(caller string, body []byte) (*peer, *mcp.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.makeRoom(time.Now()) {
		return nil, unavailable("too many sessions are open", mcp.ReasonOverloaded, time.Second)
	}
	p, refused := s.choose(caller, body)
	if refused == nil {
		p.opens++
	}
	return p, refused
}

// choose returns the process that stands for such a session, unless it does not answer, a call was left in it that keeps the session out, or
// the session is to have one to itself; then another one, where that may be started.
func (s *Server) choose(caller string, body []byte) (*peer, *mcp.Error) {
	share := s.options.shareOf(caller, body)
	standing := s.peers.standing(share.key, time.Now())
	keptOut := standing != nil && standing.left.keepsOut()
	isFull := 2*s.peers.of(caller, share.key) >= s.options.MaxProcesses
	if standing != nil && !standing.silent && (isFull || !keptOut && (!share.alone || load(standing) == 0)) {
		return standing, nil
	}
	opening := mcp.WithID(body, []byte("0"))
	wished := caller + "\x00" + string(opening)
	if p := s.spares[wished]; p != nil && share.key == "" {
		delete(s.spares, wished)
		return p, nil
	}
	var place <-chan struct{}
	if standing == nil || keptOut {
		place = s.makePlace(caller, time.Now())
	}
	p, refused := s.newPeer(opening, place)
	switch {
	case refused != nil && standing != nil:
		return standing, nil
	case refused != nil:
		return nil, refused
	}
	p.wished, p.key, p.caller, p.left.mayAsk = wished, share.key, caller, share.asked
	return p, nil
}

// load is how many sessions the process has, or is to have in a moment.
func load(p *peer) int { return len(p.sessions) + p.opens }

// share says with whom a session shares its process.
type share struct {
	key   string // of all that may: whose they are, unless they are everybody's, and what they say; "": it shares none
	asked bool   // its client may be asked something, by a process that does not say for which call
	alone bool   // it shares one only where it must, for that
}

func (o *Options) shareOf(caller string, initialize []byte) share {
	said, asked := saidBy(initialize)
	switch {
	case o.Isolation == IsolateAll:
		return share{key: "all, " + said, asked: asked}
	case o.Isolation == IsolatePrincipal && caller != "":
		return share{key: "of " + caller + ", " + said, asked: asked, alone: asked}
	}
	return share{}
}

// saidBy is a digest of what a client says in initialize that a server heeds, and answers by; and whether that lets it ask the client.
func saidBy(initialize []byte) (digest string, asked bool) {
	var said struct {
		Params struct {
			ProtocolVersion json.RawMessage `json:"protocolVersion"`
			Capabilities    json.RawMessage `json:"capabilities"`
		} `json:"params"`
	}
	_ = json.Unmarshal(initialize, &said) // one that cannot be read says nothing
	sum := sha256.Sum256(bytes.Join([][]byte{said.Params.ProtocolVersion, said.Params.Capabilities}, []byte{0}))
	client := eras.Client{Capabilities: []byte(said.Params.Capabilities)}
	return hex.EncodeToString(sum[:]), client.Asked()
}

// leave takes note that whoever a process is started for waits no longer. A client that has a
// short patience comes again, with the same words, and finds it started.
func (s *Server) leave(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.opens--
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
	p.opens--
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
