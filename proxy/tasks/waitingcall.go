package tasks

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/upgrade"
)

// offer hands o to the client, and reports whether it has its answer now. A client that
// has left takes nothing.
func (a *waiting) offer(ctx context.Context, o offer) (answered bool) {
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

// Failed implements upgrade.WaitingClient.
func (a *waiting) Failed(err error) bool { return a.offer(context.Background(), offer{err: err}) }

// Waits implements upgrade.WaitingClient.
func (a *waiting) Waits() { a.offer(context.Background(), offer{waits: true}) }

// Send implements upgrade.WaitingClient.
func (a *waiting) Send(ctx context.Context, u *routing.Upstream, c *upgrade.Call, maxAnswer int64) (upgrade.Exchange, error) {
	response, err := outbound.To(a.endpoint).ExchangeHeld(ctx, u, c, wire.MethodPost, c.Headers())
	if err != nil {
		return nil, err
	}
	if refusesByStatus(response.Status) {
		return a.sendRefused(ctx, u, c, response, maxAnswer)
	}
	if outbound.IsStream(response) {
		a.offer(ctx, offer{begins: true})
		return &waitingStream{HeldAnswer: outbound.NewHeldAnswer(ctx, response, response.Body, maxAnswer, c.Room), a: a, ctx: ctx, u: u, id: c.ID}, nil
	}
	body, _ := readAnswer(response.Body) // what is wrong shows again when it is read on
	return a.offerAnswer(ctx, u, c, response, body, maxAnswer)
}

// refusedBody bounds how long the body of a refusal is waited for, from its status.
const refusedBody = 5 * time.Second

// sendRefused is Send from a status on that refuses the call. That stands, whatever becomes
// of the body.
func (a *waiting) sendRefused(ctx context.Context, u *routing.Upstream, c *upgrade.Call, response *wire.Response, maxAnswer int64) (upgrade.Exchange, error) {
	a.offer(ctx, offer{judging: true})
	late := time.AfterFunc(refusedBody, closer(response.Body))
	defer late.Stop()
	if err := outbound.To(a.endpoint).Misplaced(ctx, u, c, response); err != nil {
		a.offer(ctx, offer{judged: true})
		return nil, err
	}
	body, err := readAnswer(response.Body)
	if late.Stop(); err != nil {
		response = ofLength(response, len(body.head))
		body.Reader = bytes.NewReader(body.head)
	}
	return a.offerAnswer(ctx, u, c, response, body, maxAnswer)
}

// closer closes body, as it is now.
func closer(body io.Closer) func() { return func() { body.Close() } }

// ofLength returns response as one whose body has another length.
func ofLength(response *wire.Response, length int) *wire.Response {
	other := *response
	other.Header, other.ContentLength = response.Header.Clone(), int64(length)
	other.Header.Set("Content-Length", strconv.Itoa(length))
	return &other
}

// offerAnswer offers an answer that is no stream, and returns it if the client does not take
// it.
func (a *waiting) offerAnswer(ctx context.Context, u *routing.Upstream, c *upgrade.Call, response *wire.Response, body begunAnswer, maxAnswer int64) (upgrade.Exchange, error) {
	whole := *response
	whole.Body = body
	o := offer{u: u, response: &whole, id: c.ID, refuses: refusesCall(response.Status, body.head, c.ID)}
	o.withheld = response.Status/100 == 2 && body.isWithheld(c.ID)
	if a.offer(ctx, o) {
		response.Body.Close()
		return nil, o.givenError()
	}
	return outbound.NewHeldAnswer(ctx, response, body, maxAnswer, c.Room), nil
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
func readAnswer(body io.ReadCloser) (begunAnswer, error) {
	head, err := io.ReadAll(io.LimitReader(body, wholeAnswer))
	return begunAnswer{io.MultiReader(bytes.NewReader(head), body), body, head}, err
}

// givenError is what ends a call whose client was given the answer.
func (o offer) givenError() error {
	if o.refuses {
		return upgrade.ErrRefused
	}
	return upgrade.ErrAnswered
}

// under returns the answer as one to the request with this id: the call may have another at
// the upstream. What does not name the call stays as it came.
func (o offer) under(id []byte) *wire.Response {
	body, ok := o.response.Body.(begunAnswer)
	if !ok || bytes.Equal(o.id, id) || len(body.head) == wholeAnswer {
		return o.response
	}
	if a, err := mcp.PeekAnswer(body.head, false); err != nil || !a.Answers(o.id) {
		return o.response
	}
	text := mcp.WithID(body.head, id)
	renamed := ofLength(o.response, len(text))
	renamed.Body = begunAnswer{bytes.NewReader(text), body.Closer, text}
	return renamed
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

// waitingStream is an event stream of which the client gets what comes while it waits.
type waitingStream struct {
	*outbound.HeldAnswer
	a   *waiting
	ctx context.Context // of the exchange: its reader's life
	u   *routing.Upstream
	id  []byte // of the request
}

// Next implements upgrade.Exchange.
func (s *waitingStream) Next() (upgrade.Message, error) {
	e, err := s.Event()
	if err != nil {
		return upgrade.Message{}, err
	}
	// The event's bytes are the reader's; the client has them before the next is read.
	o := offer{u: s.u, response: s.Response, event: &e, id: s.id, withheld: s.isWithheld(e.Data), refuses: refusesOnStream(e.Data, s.id)}
	if s.a.offer(s.ctx, o) {
		return upgrade.Message{}, o.givenError()
	}
	return outbound.MessageOf(e), nil
}

// isWithheld reports whether a message is none for the client: a response to another
// request, a task that nobody asked for, or what may be either.
func (s *waitingStream) isWithheld(message []byte) bool {
	if message == nil {
		return false
	}
	a, err := mcp.PeekAnswer(message, false)
	return err != nil || a.CreatesTask() || a.Method == "" && !a.Answers(s.id)
}
