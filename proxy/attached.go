package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/routing"
	"berth/upgrade"
)

// attached is the client of a call that may become a task: until the rule's time is over
// it waits for the answer itself. The held call's goroutine offers it what comes; the
// request's takes that, or has left.
type attached struct {
	x      *request
	offers chan offer
	left   chan struct{} // closed when the client does not wait for the answer any more
	opened bool          // an event stream to the client has begun
}

// offer is what has come of the call: one of err, event and, for an answer that is no
// stream, response alone.
type offer struct {
	u        *routing.Upstream
	response *http.Response
	event    *mcp.Event
	err      error
	answered chan<- bool // takes one: whether the client has its answer now
}

// attend starts the call and passes its answer on as it comes. What takes longer than
// after is the task's, and the client gets the handle.
func (x *request) attend(held *upgrade.Held, after time.Duration) error {
	a := &attached{x: x, offers: make(chan offer), left: make(chan struct{})}
	defer close(a.left)
	timer := time.NewTimer(after)
	defer timer.Stop()
	// The answer is read under the held call's context, not the request's.
	stop := context.AfterFunc(x.r.Context(), held.Discard)
	defer stop()
	held.Start(a)
	for {
		select {
		case o := <-a.offers:
			answered, err := a.take(o)
			o.answered <- answered
			if answered || err != nil {
				return err
			}
		case <-timer.C:
			if !stop() {
				return errClientGone
			}
			return a.hand(held)
		case <-x.r.Context().Done():
			return errClientGone
		}
	}
}

// hand gives the client the handle in place of the answer. A client that is gone by then
// has no task.
func (a *attached) hand(held *upgrade.Held) error {
	if !a.opened {
		if err := a.x.hand(held); err != nil {
			held.Discard()
			return err
		}
	} else {
		view := upgrade.View{Task: held.Task()}
		a.x.handed = view.ID
		if err := a.x.writeThrough(event(mcp.Response(a.x.id, view.Handle()))); err != nil {
			held.Discard()
			return err
		}
	}
	held.Handed()
	return nil
}

// take gives the client what has come. answered ends the call: the client has its answer,
// or is gone.
func (a *attached) take(o offer) (answered bool, err error) {
	switch {
	case o.err != nil:
		return true, plainly(o.err)
	case o.event == nil:
		a.x.upstream = o.u.Name
		return true, a.x.relayAnswer(o.u, o.response)
	}
	a.x.upstream = o.u.Name
	return a.takeEvent(o)
}

// plainly gives a failure that is worded as a task's the status that it has as an answer.
func plainly(err error) error {
	if worded, ok := errors.AsType[*mcp.Error](err); ok && worded.Status == 0 {
		answer := *worded
		answer.Status = http.StatusBadGateway
		return &answer
	}
	return err
}

// takeEvent passes an event on. Progress bears the client's own token, or is not for it.
func (a *attached) takeEvent(o offer) (answered bool, err error) {
	raw := o.event.Raw
	message, ends := o.event.Data, false
	if message != nil {
		if _, ok := mcp.PeekProgress(message); ok {
			token := mcp.ProgressToken(a.x.body)
			if token == nil {
				return false, nil
			}
			raw = event(mcp.WithProgressToken(message, token))
		} else if peeked, err := mcp.PeekAnswer(message, false); err == nil {
			ends = peeked.Method == ""
		}
	}
	if ends {
		instead, err := a.x.observe(o.u, exchange.Piece{Raw: raw, Message: message, Between: true}, true)
		if err != nil && !a.opened {
			return true, err
		}
		if err != nil {
			instead = a.x.ladder(err).Body(a.x.id)
		}
		if instead != nil {
			raw = event(instead)
		}
	}
	if !a.opened {
		a.opened = true
		a.x.streamHeaders(o.response)
		a.x.writeHeader(o.response.StatusCode)
	}
	if err := a.x.writeThrough(raw); err != nil {
		return true, err
	}
	return ends, nil
}

// offer hands o to the client, and reports whether it has its answer now. A client that
// has left takes nothing.
func (a *attached) offer(ctx context.Context, o offer) (answered bool) {
	reply := make(chan bool, 1)
	o.answered = reply
	select {
	case a.offers <- o:
		return <-reply
	case <-a.left:
	case <-ctx.Done():
	}
	return false
}

// Failed implements upgrade.Attended.
func (a *attached) Failed(err error) bool { return a.offer(context.Background(), offer{err: err}) }

// Send implements upgrade.Attended.
func (a *attached) Send(ctx context.Context, u *routing.Upstream, c *upgrade.Call, maxAnswer int64) (upgrade.Exchange, error) {
	response, err := a.x.endpoint.sendHeld(ctx, u, c)
	if err != nil {
		return nil, err
	}
	if isStream(response) {
		return &attachedStream{heldAnswer: newHeldAnswer(response, response.Body, maxAnswer), a: a, ctx: ctx, u: u, id: c.ID}, nil
	}
	body := readAnswer(response.Body)
	if response.StatusCode/100 != 2 || !body.isWithheld(c.ID) {
		whole := *response
		whole.Body = body
		if a.offer(ctx, offer{u: u, response: &whole}) {
			response.Body.Close()
			return nil, upgrade.ErrAnswered
		}
	}
	return newHeldAnswer(response, body, maxAnswer), nil
}

// wholeAnswer is how much of an answer is waited for before the client gets it, in bytes.
// Shorter ones are not begun before they are whole: one that stalls half-way could not
// become a task any more. Longer ones pass as they come.
const wholeAnswer = 64 << 10

// begunAnswer is a body whose beginning was read.
type begunAnswer struct {
	io.Reader
	io.Closer
	head []byte
}

// readAnswer waits for an answer, or for so much of it as is waited for.
func readAnswer(body io.ReadCloser) begunAnswer {
	head, _ := io.ReadAll(io.LimitReader(body, wholeAnswer)) // what is wrong shows again when it is read on
	return begunAnswer{io.MultiReader(bytes.NewReader(head), body), body, head}
}

// isWithheld reports whether an answer is not passed on to who made the request with this
// id: a task that nobody asked for is followed, and another request's answer dropped. Of a
// longer one the id may still come.
func (b begunAnswer) isWithheld(id []byte) bool {
	a, err := mcp.PeekAnswer(b.head, true)
	if err != nil || a.CreatesTask() {
		return err == nil
	}
	named := a.ID != nil || len(b.head) < wholeAnswer
	return named && a.Method == "" && !a.Answers(id) && !a.IsNobodys()
}

// attachedStream is an event stream of which the client gets what comes while it waits.
type attachedStream struct {
	*heldAnswer
	a   *attached
	ctx context.Context // of the exchange: its reader's life
	u   *routing.Upstream
	id  []byte // of the request
}

// Next implements upgrade.Exchange.
func (s *attachedStream) Next() (upgrade.Message, error) {
	for {
		e, err := s.event()
		if err != nil {
			return upgrade.Message{}, err
		}
		if !s.isWithheld(e.Data) {
			// The event's bytes are the reader's; the client has them before the next is read.
			if s.a.offer(s.ctx, offer{u: s.u, response: s.response, event: &e}) {
				return upgrade.Message{}, upgrade.ErrAnswered
			}
		}
		if e.Data != nil {
			return upgrade.Message{Data: e.Data}, nil
		}
	}
}

// isWithheld reports whether a message is none for the client: a response to another
// request, a task that nobody asked for, or what may be either.
func (s *attachedStream) isWithheld(message []byte) bool {
	if message == nil {
		return false
	}
	a, err := mcp.PeekAnswer(message, false)
	return err != nil || a.CreatesTask() || a.Method == "" && !a.Answers(s.id)
}
