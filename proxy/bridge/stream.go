package bridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/resident"
)

// follow reads the answer to a call that was sent, and shows it as a modern server would.
func (c *call) follow(ctx context.Context, l *loan, s *sent) (*wire.Response, error) {
	r := &reading{c: c, l: l, id: s.id, flow: s.flow}
	switch {
	case s.ask != nil:
		return c.show(ctx, r, s.ask)
	case s.Status/100 == 2 && exchange.ShapeOf(s.Response) == exchange.EventStream:
		go s.flow.run(s.Response, "")
		return c.show(ctx, r, nil)
	}
	defer l.giveBack(false)
	defer s.close()
	hungUp := context.AfterFunc(ctx, func() { s.Body.Close() })
	defer hungUp()
	message, err := readWhole(s.Response)
	if err != nil {
		return nil, &exchange.SendError{Err: err, Sent: true}
	}
	if s.Status/100 != 2 {
		return c.failed(s.Response, message), nil
	}
	a, err := mcp.PeekAnswer(message, false)
	if err != nil || !a.Answers(s.id) || !a.IsError && !a.HasResult {
		return nil, errUnusable
	}
	return whole(c.conclude(ctx, &a, message)), nil
}

// failed is an HTTP error of the upstream's as its client gets it.
func (c *call) failed(response *wire.Response, message []byte) *wire.Response {
	body := (&mcp.Error{Code: mcp.CodeInternal, Message: "the server refused the request", Reason: mcp.ReasonBadUpstream}).Body(c.id)
	if mcp.MayBeMessage(message) && mcp.ErrorObject(message) != nil {
		body = mcp.ModernForm(message, c.id, false)
	}
	r := whole(response.Status, body)
	for _, name := range []string{"Www-Authenticate", "Retry-After"} {
		if values := response.Header.Values(name); len(values) > 0 {
			r.Header[name] = values
		}
	}
	return r
}

// conclude is the response that ends the call, as a modern server gives it.
func (c *call) conclude(ctx context.Context, a *mcp.Answer, message []byte) (status int, body []byte) {
	switch {
	case c.tasks != nil && a.CreatesTask():
		return c.handOut(ctx, message)
	case len(c.lacks) > 0 && (a.IsError || a.ToolFailed):
		refusal := mcp.ErrLacks(c.lacks)
		return refusal.Status, refusal.Body(c.id)
	case a.IsError && a.ErrorCode == mcp.CodeMethodNotFound:
		status = wire.StatusNotFound
	default:
		status = wire.StatusOK
	}
	if c.Method == mcp.MethodListTools && a.HasResult {
		c.f.noteTools(mcp.ResultObject(message))
	}
	return status, mcp.ModernForm(message, c.id, isCacheable(c.Method))
}

// reading is what a call reads of its answer. It is for one goroutine, but for abandon.
type reading struct {
	c    *call
	l    *loan
	id   []byte // of the call in its session
	flow *flow
	seen []string // keys of what was asked in rounds before
	over sync.Once
	asks bool // it ended with a question: flow and session are the hold's

	last *step // the answer's end, which waits for what was told before it on another stream; nil: none

	h     *hold  // whose turn it has; nil: this is the first round
	nonce string // of the round whose answers it is about
}

// step is what an answer comes to next.
type step struct {
	notification []byte // for the client
	status       int    // of the whole answer, which body is
	body         []byte
	impatient    bool // nothing came for a while
}

func (s *step) isNothing() bool { return s.notification == nil && s.body == nil }

// show answers with what the reading comes to: one message, or a stream as soon as there is
// something to tell before the end. Until then an error may have a status of its own. first came
// before the rest; nil is nothing.
func (c *call) show(ctx context.Context, r *reading, first *item) (*wire.Response, error) {
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
	switch {
	case err != nil:
		r.abandon()
		return nil, &exchange.SendError{Err: err, Sent: true}
	case s.body != nil:
		r.finish()
		return whole(s.status, s.body), nil
	}
	body := &stream{ctx: ctx, r: r}
	if s.notification != nil {
		body.put(s.notification)
	}
	return &wire.Response{
		Status: wire.StatusOK, Body: body, ContentLength: -1, ProtoMajor: 1, ProtoMinor: 1,
		Header: wire.Header{"Content-Type": {"text/event-stream"}, "Cache-Control": {"no-cache"}},
	}, nil
}

// patience is how long an answer's headers wait for what it will be.
const patience = 10 * time.Second

// next reads on. It fails when ctx ends.
func (r *reading) next(ctx context.Context, impatient <-chan time.Time) (step, error) {
	for {
		var it item
		select {
		case <-ctx.Done():
			return step{}, context.Cause(ctx)
		case <-r.stragglers():
			return *r.last, nil
		case <-impatient:
			return step{impatient: true}, nil
		case it = <-r.flow.inbox:
		case it = <-r.flow.items:
		}
		s, err := r.take(ctx, it)
		if err != nil || !s.isNothing() {
			return s, err
		}
	}
}

// take does what an item means. The zero step is nothing to tell.
func (r *reading) take(ctx context.Context, it item) (step, error) {
	if it.message == nil {
		return r.broken(it.err), nil
	}
	switch a := &it.answer; {
	case a.Method != "" && a.ID != nil:
		return r.asked(ctx, it)
	case a.Method != "":
		return step{notification: r.c.told(r.id, a, it.message)}, nil
	case !a.Answers(r.id):
		return step{}, nil // a stream that was resumed may bear others' as well
	case !a.IsError && !a.HasResult:
		return r.broken(errUnusable), nil
	}
	s := r.end(r.c.conclude(ctx, &it.answer, it.message))
	if r.c.client.LogLevel != "" && resident.Is(r.c.f.u.URL) {
		r.last, s = &s, step{}
	}
	return s, nil
}

// straggle is how long an answer's end waits for log messages: servers of other transports tell them
// on the session's own stream.
const straggle = 10 * time.Millisecond

func (r *reading) stragglers() <-chan time.Time {
	if r.last == nil {
		return nil
	}
	return time.After(straggle)
}

// end is the step that the reading ends with.
func (r *reading) end(status int, body []byte) step {
	if r.h != nil {
		r.h.ended[r.nonce] = &answer{status, body}
	}
	return step{status: status, body: body}
}

// broken is the end of an answer that has none of its own.
func (r *reading) broken(err error) step {
	worded, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		worded = errReset
	}
	return r.end(worded.Status, worded.Body(r.c.id))
}

// told is what a client hears of a notification; nil is nothing.
func (c *call) told(id []byte, a *mcp.Answer, message []byte) []byte {
	switch a.Method {
	case mcp.MethodProgress:
		if p, ok := mcp.PeekProgress(message); ok && c.ProgressToken != nil && bytes.Equal(p.Token, id) {
			return mcp.WithProgressToken(message, c.ProgressToken)
		}
	case methodMessage:
		wanted, level := mcp.Severity(c.client.LogLevel), mcp.Severity(mcp.LogLevelOf(message))
		if wanted >= 0 && level >= wanted {
			return message
		}
	}
	return nil
}

// finish ends a reading whose answer is whole.
func (r *reading) finish() {
	r.over.Do(func() {
		switch {
		case r.asks:
			return
		case r.h != nil:
			r.h.finish()
		default:
			r.l.giveBack(false)
		}
		r.flow.leave()
	})
}

// abandon ends a reading whose client is gone. In the first round the upstream is told that nobody
// wants the answer; what it says to that means nothing.
func (r *reading) abandon() {
	r.over.Do(func() {
		if r.asks {
			return
		}
		if r.h != nil {
			r.h.leave(r)
			return
		}
		go func() {
			_ = r.c.f.tell(context.Background(), r.c.out, r.l, mcp.Cancelled(r.id, hangUp))
			r.flow.leave()
			r.l.giveBack(false)
		}()
	})
}

// stream is the body of an answer in events.
type stream struct {
	ctx  context.Context
	r    *reading
	left []byte // of events that were not read yet
	over bool
}

// put appends an event.
func (s *stream) put(message []byte) { s.left = appendEvent(s.left, message) }

// appendEvent appends a message as an event.
func appendEvent(to, message []byte) []byte {
	to = append(to, "event: message\ndata: "...)
	for _, b := range message {
		if b == '\n' || b == '\r' { // between tokens: strings in JSON have none
			b = ' '
		}
		to = append(to, b)
	}
	return append(to, "\n\n"...)
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.left) == 0 {
		if s.over {
			return 0, io.EOF
		}
		next, err := s.r.next(s.ctx, nil)
		switch {
		case err != nil:
			return 0, err
		case next.notification != nil:
			s.put(next.notification)
		case next.body != nil:
			s.put(next.body)
			s.over = true
			s.r.finish()
		}
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// Close implements io.Closer. Before the end it is the client's departure.
func (s *stream) Close() error {
	s.r.abandon()
	return nil
}
