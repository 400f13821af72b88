package bridge

import (
	"context"
	"io"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/reply"
)

// show answers with what the reading comes to: one message, or a stream as soon as there is
// something to tell before the end, if its client takes one. Until then an error may have a status of its own. first came
// before the rest; nil is nothing.
func (c *call) show(ctx context.Context, r *reading, first *flow.Item) (*wire.Response, error) {
	var s step
	var err error
	if first != nil {
		s, err = r.take(ctx, *first)
	}
	if err == nil && s.isNothing() {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		s, err = r.next(ctx, timer.C)
	}
	if h := c.came.Header; h.Has("Accept") && !h.Streams() {
		for err == nil && s.body == nil {
			s, err = r.next(ctx, nil)
		}
		s.told = nil
	}
	switch {
	case err != nil:
		r.abandon(err)
		return nil, &exchange.SendError{Err: err, Sent: true}
	case s.noMethod && len(s.told) == 0 && r.h == nil && c.isOfTheWrongForm(ctx, r.l):
		r.l.Over(r.flow, "")
		return c.sendAnew(ctx, r.l)
	case s.body != nil && len(s.told) == 0:
		r.finish()
		return s.whole(), nil
	}
	body := &stream{ctx: ctx, r: r}
	body.show(s)
	return wire.Streamed(body), nil
}

// whole is the response that a step is the whole of.
func (s *step) whole() *wire.Response {
	response := wire.Whole(s.status, s.body)
	if s.refusal != nil {
		response.Unasked = s.refusal.Unasked
		takeRefusal(response.Header, s.refusal.Header)
	}
	return response
}

// patience is how long an answer's headers wait for what it will be.
const patience = 10 * time.Second

// stream is the body of an answer in events.
type stream struct {
	ctx  context.Context
	r    *reading
	left []byte // of events that were not read yet
	over bool
}

// show has the client read a step.
func (s *stream) show(next step) {
	for _, message := range next.told {
		s.left = append(s.left, reply.Event(message)...)
	}
	if next.body != nil {
		s.left = append(s.left, reply.Event(next.body)...)
		s.over = true
		s.r.finish()
	}
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.left) == 0 {
		if s.over {
			return 0, io.EOF
		}
		next, err := s.r.next(s.ctx, nil)
		if err != nil {
			return 0, err
		}
		s.show(next)
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// Close implements io.Closer. Before the end it is the client's departure.
func (s *stream) Close() error {
	s.r.abandon(context.Cause(s.ctx))
	return nil
}
