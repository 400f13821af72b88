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
)

// LingerTime is how long a legacy call that was cancelled has to end by itself before its
// stream is closed.
const LingerTime = time.Second

// maxRetry bounds how long an upstream may want to be left alone before its stream is
// resumed.
const maxRetry = time.Minute

// line returns the context of an exchange of the round that ctx bounds. In the legacy era a
// stream that closes cancels nothing: so the exchange outlives ctx by a moment, in which the
// upstream is told.
func (h *Held) line(ctx context.Context) (line context.Context, hangUp func()) {
	if h.Task().Call == "" {
		return ctx, func() {}
	}
	line, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		defer end()
		if !h.abandons(context.Cause(ctx)) {
			return
		}
		h.revoke(ctx)
		select {
		case <-time.After(LingerTime):
			h.revoke(ctx) // the first time may have overtaken the call itself
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
func (h *Held) abandons(cause error) bool {
	switch {
	case errors.Is(cause, task.ErrShutdown):
		return !h.canBeLeft()
	case errors.Is(cause, errFenced):
		return h.Task().State.Terminal()
	}
	return true
}

// revoke tells the upstream that nobody wants the answer to the call any more.
func (h *Held) revoke(ctx context.Context) {
	t := h.Task()
	h.r.Revoke(ctx, &t, h.call.Unpack())
}

// post posts a notification or a response in the call's session. It reports whether the
// upstream has taken it.
func (h *Held) post(ctx context.Context, body []byte) bool {
	t := h.Task()
	return h.r.post(ctx, &t, h.call.Unpack(), body)
}

// listen reads the answer to the round, and resumes its stream as often as it breaks and
// can be resumed.
func (h *Held) listen(ctx, line context.Context, u *routing.Upstream, ex Exchange) (reply, error) {
	for {
		r, err := h.readFor(ctx, ex)
		ex.Close()
		switch legacy := h.Task().Call != ""; {
		case !legacy:
			return r, err
		case errors.Is(err, ErrAnswered):
			return r, err
		case ctx.Err() != nil && h.abandons(context.Cause(ctx)):
			return reply{}, context.Cause(ctx) // some servers answer what was cancelled
		case ctx.Err() != nil, err == nil:
			return r, err
		case !isBreak(err):
			if h.abandons(err) {
				h.revoke(ctx) // it goes on, and what it returns is not wanted
			}
			return r, err
		}
		h.sayNow()
		if t := h.Task(); !t.Resumable() {
			return r, err
		}
		again, refused := h.reopen(ctx, line, u)
		if refused != nil || !errors.Is(err, errQuiet) {
			h.measureResumption(ctx, refused)
		}
		if errors.Is(refused, ErrNoReplay) {
			return r, err
		}
		if refused != nil {
			return reply{}, refused
		}
		ex = again
	}
}

// isBreak reports whether an answer ended without a response, through nobody's saying so.
func isBreak(err error) bool { return errors.Is(err, errBroken) || errors.Is(err, errEnded) }

// readFor reads an answer up to its response, as the era of the call has it.
func (h *Held) readFor(ctx context.Context, ex Exchange) (reply, error) {
	if h.Task().Call == "" {
		return h.read(ex, h.sent)
	}
	for {
		m, err := next(ex)
		if err != nil {
			return reply{}, err
		}
		if m.Data != nil {
			h.quiet = 0
		}
		r, over, err := h.hear(ctx, m)
		if over || err != nil {
			return r, err
		}
	}
}

// hear does what a message on a legacy call's stream means. over says that r ends the
// round.
func (h *Held) hear(ctx context.Context, m Message) (r reply, over bool, err error) {
	if m.Retry > 0 {
		h.retry = min(m.Retry, maxRetry)
	}
	if m.Data == nil {
		if m.Event != "" {
			onFreshStack(func() { h.noteThat(saying{event: m.Event}) })
		}
		return reply{}, false, nil
	}
	isText := utf8.Valid(m.Data)
	if p, ok := mcp.PeekProgress(m.Data); ok && isText {
		h.note(p, m)
		return reply{}, false, nil
	}
	a, err := mcp.PeekAnswer(m.Data, false)
	switch {
	case err != nil:
		return reply{}, false, task.ErrGarbled
	case a.Method == "":
		return h.answered(a, m)
	case !isText:
		h.ignore(ctx, a, m)
		return reply{}, false, nil
	}
	onFreshStack(func() { err = h.told(ctx, a, m) })
	return reply{}, false, err
}

// ignore drops a request or notification that is not UTF-8: who shows it to a client, or
// keeps it, could not tell what it says. How far the stream came it tells all the same.
func (h *Held) ignore(ctx context.Context, a mcp.Answer, m Message) {
	onFreshStack(func() {
		if a.ID != nil && utf8.Valid(a.ID) {
			h.post(ctx, mcp.ErrorResponse(bytes.Clone(a.ID), errIllegible.Object()))
			return
		}
		h.noteThat(saying{event: m.Event})
	})
}

// told does what a request or a notification means that is no progress.
func (h *Held) told(ctx context.Context, a mcp.Answer, m Message) error {
	switch {
	case a.ID != nil:
		return h.asked(ctx, a, m)
	case a.Method == mcp.MethodCancelled:
		return h.unasked(ctx, m)
	}
	said := saying{event: m.Event}
	// Progress that says nothing would show the client a token that it did not give.
	if a.Method != mcp.MethodProgress && len(m.Data) <= task.MaxSaidBytes { // a record is no place for more
		said.others = oneOf(m.Data)
	}
	h.noteThat(said)
	return nil
}

// answered takes a response. A stream that was resumed may bear those to other requests.
func (h *Held) answered(a mcp.Answer, m Message) (r reply, over bool, err error) {
	if meant, err := h.isMeant(&a, m, h.requestID(h.due)); !meant {
		return reply{}, false, err
	}
	if !a.IsError && !a.HasResult {
		return reply{}, false, task.ErrGarbled
	}
	h.sayNow()
	a.ResultType = "" // a member like any other: this era asks by requests
	return reply{a, m.Data}, true, nil
}
