package legacyface

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// said is what became of a message that a connection was given.
type said struct {
	answer *wire.Response
	err    error
}

func (o said) failed() bool { return o.answer != nil || o.err != nil }

// ask sends a call. Without an answer in its place, and without an error, c is answered, or has
// a stream on which it will be. wait bounds that, and what the connection takes of it.
func (s *session) ask(ctx context.Context, request *exchange.Request, c *call, wait time.Duration) (*wire.Response, error) {
	own := *request // a client that hangs up may leave before it is said
	own.Header = request.Header.Clone()
	message := mcp.WithID(request.Body, []byte(c.key))
	outcome := make(chan said, 1)
	go func() {
		o := s.say(context.WithoutCancel(ctx), &own, c, message, wait)
		close(c.taken)
		outcome <- o
	}()
	var late <-chan time.Time // once the connection has done its part
	until := time.Now().Add(wait)
	pending := outcome // nil: it is known
	for {
		select {
		case <-c.answered:
			if pending != nil && s.isOver() {
				o := <-pending // the connection is closed, which ends it
				return o.answer, nil
			}
			s.follow(pending, c)
			return nil, nil
		case o := <-pending:
			pending = nil
			switch {
			case o.failed() && s.abandon(c):
				return o.answer, o.err
			case o.answer != nil && s.isOver():
				return o.answer, nil
			case o.failed():
				s.miss(c, o)
				return nil, nil
			case c.stream != nil:
				return nil, nil
			case wait > 0:
				timer := time.NewTimer(time.Until(until))
				defer timer.Stop()
				late = timer.C
			}
		case <-late:
			late = nil
			if s.abandon(c) {
				return nil, &exchange.SendError{Err: errLate, Sent: true, TimedOut: true}
			}
		case <-ctx.Done():
			s.follow(pending, c)
			time.AfterFunc(cancellable, func() { s.abandon(c) })
			return nil, &exchange.SendError{Err: context.Cause(ctx), Sent: true}
		}
	}
}

// say has the connection take a call, within wait. One that has a stream needs to have begun to be answered by then: some servers take a message as
// long as they answer it. Once it has its answer they have wait again, at most.
func (s *session) say(ctx context.Context, own *exchange.Request, c *call, message []byte, wait time.Duration) said {
	if c.stream == nil || wait <= 0 {
		answer, err := s.conn.Say(ctx, own, message, wait)
		return said{answer, err}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var look func()
	look = func() {
		switch {
		case c.isTaken():
		case s.isBeingAnswered(c):
			time.AfterFunc(wait, look)
		default:
			cancel(errLate)
		}
	}
	bound := time.AfterFunc(wait, look)
	answer, err := s.conn.Say(ctx, own, message, 0)
	bound.Stop()
	if failed, ok := errors.AsType[*exchange.SendError](err); ok && context.Cause(ctx) == errLate {
		late := *failed
		late.TimedOut = true
		err = &late
	}
	return said{answer, err}
}

// isBeingAnswered reports whether there is something to answer a call with, but not all.
func (s *session) isBeingAnswered(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.begun && s.calls[c.key] == c
}

// isOver reports whether the session has ended. A message that was refused then was not taken: that says
// more than that the session was lost.
func (s *session) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// follow sees to what becomes of a message that nobody waits for; nil: that is known.
func (s *session) follow(pending <-chan said, c *call) {
	if pending != nil {
		go func() { s.miss(c, <-pending) }()
	}
}

// miss ends a call that was refused or lost after its answer had begun.
func (s *session) miss(c *call, o said) {
	if !o.failed() {
		return
	}
	if o.answer != nil {
		o.answer.Body.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls[c.key] == c {
		why := LostBecause(mcp.ReasonUpstreamReset, "the server did not take the call to its end")
		s.finish(c, why.Body(c.id), why)
	}
}
