package legacyface

import (
	"context"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// said is what became of a message that a line was given.
type said struct {
	answer *wire.Response
	err    error
}

func (o said) failed() bool { return o.answer != nil || o.err != nil }

// ask sends a call. Without an answer in its place, and without an error, c is answered, or has
// a stream on which it will be. wait bounds that, and what the line takes of it.
func (s *session) ask(ctx context.Context, request *exchange.Request, c *call, wait time.Duration) (*wire.Response, error) {
	own := *request // a client that hangs up may leave before it is said
	own.Header = request.Header.Clone()
	message := mcp.WithID(request.Body, []byte(c.key))
	outcome := make(chan said, 1)
	go func() {
		answer, err := s.line.Say(context.WithoutCancel(ctx), &own, message, wait)
		close(c.taken)
		outcome <- said{answer, err}
	}()
	var late <-chan time.Time // once the line has done its part
	until := time.Now().Add(wait)
	pending := outcome // nil: it is known
	for {
		select {
		case <-c.answered:
			if pending != nil && s.isOver() {
				o := <-pending // the line is closed, which ends it
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
