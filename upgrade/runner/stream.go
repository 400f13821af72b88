package runner

import (
	"bytes"
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"berth/internal/mcp"
	"berth/routing"
	"berth/upgrade/task"
	"berth/upgrade/transport"
)

// LingerTime is how long a legacy call that was cancelled has to end by itself before its
// stream is closed.
const LingerTime = time.Second

// maxRetry bounds how long an upstream may want to be left alone before its stream is
// resumed.
const maxRetry = time.Minute

// stream is the answer to a round of the legacy era: it may ask meanwhile, and be resumed.
type stream struct {
	*round
	retry time.Duration // how long the upstream wants to be left alone before it is resumed
	quiet time.Duration // how long one that was resumed may say nothing
}

// line returns the context of an exchange of the round that ctx bounds. In the legacy era a
// stream that closes cancels nothing: so the exchange outlives ctx by a moment, in which the
// upstream is told.
func (s *stream) line(ctx context.Context) (line context.Context, hangUp func()) {
	if s.record().Call == "" {
		return ctx, func() {}
	}
	return s.outliving(ctx)
}

// outliving returns line of a call of the legacy era.
func (s *stream) outliving(ctx context.Context) (line context.Context, hangUp func()) {
	line, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		defer end()
		if !s.abandons(context.Cause(ctx)) {
			return
		}
		s.revoke(ctx)
		select {
		case <-time.After(LingerTime):
			s.revoke(ctx) // the first time may have overtaken the call itself
		case <-line.Done():
		}
	})
	return line, func() {
		stop()
		end()
	}
}

// abandons reports whether nobody wants the call any more that was given up because of
// cause. Another berth may go on with what this one only lets go of.
func (s *stream) abandons(cause error) bool {
	switch {
	case errors.Is(cause, task.ErrShutdown):
		return !s.canBeLeft()
	case errors.Is(cause, errFenced):
		return s.record().State.Terminal()
	case errors.Is(cause, errLeft):
		return false
	}
	return true
}

// revoke tells the upstream that nobody wants the answer to the call any more.
func (s *stream) revoke(ctx context.Context) {
	t := s.record()
	s.r.Revoke(ctx, t, s.renewed())
}

// post posts a notification or a response in the call's session. It reports whether the
// upstream has taken it.
func (h *Held) post(ctx context.Context, body []byte) bool {
	t := h.record()
	return h.r.Pools.Tell(ctx, t, h.renewed(), body)
}

// listen reads the answer to the round, and resumes its stream as often as it breaks and
// can be resumed.
func (s *stream) listen(ctx, line context.Context, u *routing.Upstream, ex transport.Exchange) (*reply, error) {
	for {
		r, err := s.readFor(ctx, ex)
		ex.Close()
		switch legacy := s.record().Call != ""; {
		case !legacy:
			return r, err
		case errors.Is(err, transport.ErrAnswered):
			return r, err
		case ctx.Err() != nil && s.abandons(context.Cause(ctx)):
			return nil, context.Cause(ctx) // some servers answer what was cancelled
		case ctx.Err() != nil, err == nil:
			return r, err
		case !isBreak(err):
			if s.abandons(err) {
				s.revoke(ctx) // it goes on, and what it returns is not wanted
			}
			return r, err
		}
		s.notes.flush()
		if t := s.record(); !t.Resumable() {
			return r, err
		}
		again, refused := s.reopen(ctx, line, u)
		if refused != nil || !errors.Is(err, errQuiet) {
			s.measureResumption(ctx, refused)
		}
		if errors.Is(refused, transport.ErrNoReplay) {
			return r, err
		}
		if refused != nil {
			return nil, refused
		}
		ex = again
	}
}

// isBreak reports whether an answer ended without a response, through nobody's saying so.
func isBreak(err error) bool { return errors.Is(err, errBroken) || errors.Is(err, errEnded) }

// readFor reads an answer up to its response, as the era of the call has it.
func (s *stream) readFor(ctx context.Context, ex transport.Exchange) (*reply, error) {
	if s.record().Call == "" {
		return s.read(ex, s.sent)
	}
	for {
		m, err := next(ex)
		if err != nil {
			return nil, err
		}
		if m.Data != nil {
			s.quiet = 0
		}
		r, over, err := s.hear(ctx, m)
		if over || err != nil {
			return r, err
		}
	}
}

// hear does what a message on a legacy call's stream means. over says that r ends the
// round.
func (s *stream) hear(ctx context.Context, m transport.Message) (r *reply, over bool, err error) {
	if m.Retry > 0 {
		s.retry = min(m.Retry, maxRetry)
	}
	if m.Data == nil {
		if m.Event != "" {
			onFreshStack(func() { s.notes.add(saying{event: m.Event}) })
		}
		return nil, false, nil
	}
	isText := utf8.Valid(m.Data)
	if p, ok := mcp.PeekProgress(m.Data); ok && isText {
		s.notes.progress(p, m)
		return nil, false, nil
	}
	a, err := mcp.PeekAnswer(m.Data, false)
	switch {
	case err != nil:
		return nil, false, task.ErrGarbled
	case a.Method == "":
		return s.answered(a, m)
	case !isText, !task.IsKept(m.Data):
		s.ignore(ctx, a, m)
		return nil, false, nil
	}
	onFreshStack(func() { err = s.told(ctx, a, m) })
	return nil, false, err
}

// ignore drops a request or notification that is not UTF-8, or nested too deeply: who shows it to a client, or
// keeps it, could not tell what it says. How far the stream came it tells all the same.
func (s *stream) ignore(ctx context.Context, a mcp.Answer, m transport.Message) {
	onFreshStack(func() {
		if a.ID != nil && utf8.Valid(a.ID) {
			s.post(ctx, mcp.ErrorResponse(bytes.Clone(a.ID), errIllegible.Object()))
			return
		}
		s.notes.add(saying{event: m.Event})
	})
}

// told does what a request or a notification means that is no progress.
func (s *stream) told(ctx context.Context, a mcp.Answer, m transport.Message) error {
	switch {
	case a.ID != nil:
		return s.asked(ctx, a, m)
	case a.Method == mcp.MethodCancelled:
		return s.unasked(ctx, m)
	}
	said := saying{event: m.Event}
	// Progress that says nothing would show the client a token that it did not give.
	if a.Method != mcp.MethodProgress && len(m.Data) <= task.MaxSaidBytes { // a record is no place for more
		said.others = oneOf(m.Data)
	}
	s.notes.add(said)
	return nil
}

// answered takes a response. A stream that was resumed may bear those to other requests.
func (s *stream) answered(a mcp.Answer, m transport.Message) (r *reply, over bool, err error) {
	if meant, err := s.isMeant(&a, m, requestID(s.token, s.due)); !meant {
		return nil, false, err
	}
	if !a.IsError && !a.HasResult {
		return nil, false, task.ErrGarbled
	}
	s.notes.flush()
	a.ResultType = "" // a member like any other: this era asks by requests
	return &reply{a, m.Data}, true, nil
}
