package stdio

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

var (
	errNoAnswer    = errors.New("stdio: no answer in time")
	errProcessLost = errors.New("stdio: the process has ended without an answer")
)

// Send implements exchange.Sender. What a process fails at is an answer too. An error says that no process could be started
// for a session, or is not tried now, so that nothing was done (Unstarted); or that ctx or wait ended
// the exchange, and the call goes on.
func (s *Server) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if ctx.Err() != nil {
		return nil, &exchange.SendError{Err: context.Cause(ctx)}
	}
	p := patience{ctx: ctx}
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		p.late = timer.C
	}
	switch request.Method {
	case wire.MethodPost:
		return s.post(p, request)
	case wire.MethodGet:
		return s.get(ctx, request), nil
	case wire.MethodDelete:
		return s.delete(request), nil
	}
	return notAllowed("Method not allowed."), nil
}

func notAllowed(message string) *wire.Response {
	response := exchange.Refusal(&mcp.Error{Status: wire.StatusMethodNotAllowed, Code: mcp.CodeBadRequest, Message: message}, nil)
	response.Header.Set("Allow", "GET, POST, DELETE")
	return response
}

// patience is how long somebody waits for an answer's headers.
type patience struct {
	ctx  context.Context
	late <-chan time.Time // nil: never
}

// await returns when done, which may bear a value, is ready.
func await[T any](p patience, done <-chan T) (value T, err error) {
	select {
	case value = <-done:
		return value, nil
	case <-p.ctx.Done():
		return value, &exchange.SendError{Err: context.Cause(p.ctx), Sent: true}
	case <-p.late:
		return value, &exchange.SendError{Err: errNoAnswer, Sent: true, TimedOut: true}
	}
}

// get serves a session's standing stream, or resumes one. Of one that has ended nothing follows its last event, and there is no stream (405):
// some clients take an error for no answer and ask on, and an empty stream for their standing one that broke.
func (s *Server) get(ctx context.Context, request *exchange.Request) *wire.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	session, refused := s.sessionOf(request)
	if refused != nil {
		return exchange.Refusal(refused, nil)
	}
	session.touched = time.Now()
	var reader *streamReader
	var err error
	if last := request.Header.Get(mcp.HeaderLastEvent); last == "" {
		reader, err = session.standing.readAnew(ctx, primes(session.peer.version))
	} else {
		reader, err = session.resume(ctx, last)
	}
	switch {
	case errors.Is(err, errStreamTaken):
		return exchange.Refusal(&mcp.Error{Status: wire.StatusConflict, Code: mcp.CodeBadRequest, Message: "Conflict: the stream has a reader"}, nil)
	case errors.Is(err, errStreamOver):
		return notAllowed("Method not allowed: the stream has ended with that event")
	case err != nil:
		return exchange.Refusal(badRequest("unknown event id"), nil)
	}
	return streaming(session.id, reader)
}

// delete ends a session.
func (s *Server) delete(request *exchange.Request) *wire.Response {
	s.mu.Lock()
	defer s.mu.Unlock()
	session, refused := s.sessionOf(request)
	if refused != nil {
		return exchange.Refusal(refused, nil)
	}
	s.endSession(session)
	return wire.Whole(wire.StatusOK, nil)
}

// sessionOf returns the session that a request names. One of another caller does not exist.
func (s *Server) sessionOf(request *exchange.Request) (*session, *mcp.Error) {
	id := request.Header.Get(mcp.HeaderSession)
	if id == "" {
		return nil, badRequest("Mcp-Session-Id header is required")
	}
	session := s.sessions[id]
	if session == nil || session.caller != "" && request.Caller != "" && session.caller != request.Caller {
		return nil, errNoSession
	}
	return session, nil
}
