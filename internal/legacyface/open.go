package legacyface

import (
	"cmp"
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// openTime bounds the opening of a session by a client that names no bound.
const openTime = 30 * time.Second

var errLate = errors.New("legacyface: no answer in time")

// open opens a session. One whose initialize does not succeed is none.
func (f *Face) open(ctx context.Context, request *exchange.Request, m *mcp.Call, wait time.Duration) (*wire.Response, error) {
	s, refused := f.enter(whereOf(request), request.Caller)
	if refused != nil {
		return exchange.TurnedAway(refused, m.ID), nil
	}
	answer, err := s.initialize(ctx, request, m, time.Now().Add(cmp.Or(wait, openTime)))
	if err != nil || answer.Header.Get(mcp.HeaderSession) == "" {
		s.Lost(LostBecause(mcp.ReasonSessionLost, "the session was not opened"))
	}
	return answer, err
}

func (s *session) initialize(ctx context.Context, request *exchange.Request, m *mcp.Call, until time.Time) (*wire.Response, error) {
	conn, answer, err := s.face.server.Dial(ctx, request, time.Until(until), s)
	if conn == nil {
		return answer, err
	}
	s.begin(conn)
	c, lost := s.enter(m, false)
	if lost != nil {
		return nil, &exchange.SendError{Err: lost}
	}
	wait := time.Until(until)
	if wait <= 0 {
		return nil, &exchange.SendError{Err: errLate, TimedOut: true}
	}
	if answer, err := s.ask(ctx, request, c, wait); answer != nil || err != nil {
		return answer, err
	}
	if c.failed != nil {
		return nil, &exchange.SendError{Err: c.failed, Sent: true}
	}
	answer = wire.Whole(wire.StatusOK, c.response)
	if a, err := mcp.PeekAnswer(c.response, false); err == nil && a.Version != "" {
		s.negotiated(a.Version)
		answer.Header.Set(mcp.HeaderSession, s.id)
	}
	return answer, nil
}
