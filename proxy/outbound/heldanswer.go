package outbound

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/upgrade"
)

// HeldAnswer is the answer to a held call, read message by message.
type HeldAnswer struct {
	Response *wire.Response
	body     *roomReader // of response, or what buffers it
	events   *sse.Reader // nil: the body is one message
	most     int64       // bytes of one message
	over     bool        // the one message was read
	all      []byte      // of an answer that is there already; nil: it is to be read
	says     *mcp.Answer // what that says; nil: nobody has looked
}

// NewHeldAnswer reads an answer, messages of at most that many bytes, within room. ctx is the
// exchange's.
func NewHeldAnswer(ctx context.Context, response *wire.Response, body io.Reader, most int64, room *upgrade.Room) *HeldAnswer {
	a := &HeldAnswer{Response: response, most: most, body: newRoomReader(ctx, body, most, room)}
	if IsStream(response) {
		a.events = sse.NewReader(a.body, int(most))
	} else if n := response.ContentLength; n > 0 {
		a.body.most = min(n, most)
	}
	return a
}

// NewWholeAnswer reads an answer that is no stream, and of which all is there. says is what it says, nil if that is not known.
func NewWholeAnswer(response *wire.Response, all []byte, says *mcp.Answer, most int64) *HeldAnswer {
	return &HeldAnswer{Response: response, most: most, all: all, says: says}
}

// IsStream reports whether an answer comes as events, and is no refusal.
func IsStream(response *wire.Response) bool {
	return exchange.ShapeOf(response) == exchange.EventStream && response.Status/100 == 2
}

// Next implements upgrade.Exchange.
func (a *HeldAnswer) Next() (upgrade.Message, error) {
	if a.events == nil {
		body, err := a.whole()
		return upgrade.Message{Data: body, Says: a.says, Whole: true}, err
	}
	event, err := a.Event()
	return MessageOf(event), err
}

// Rest implements upgrade.Resting. It gives the response's header back.
func (a *HeldAnswer) Rest(ready func()) bool {
	body, ok := a.Response.Body.(wire.Waiter)
	if !ok || a.events == nil || a.events.Ready() {
		return false
	}
	if !body.Await(ready) {
		go wait(body, ready) // with next to nothing on its stack
	}
	return true
}

func wait(body wire.Waiter, ready func()) {
	body.Wait()
	ready()
}

// MessageOf is what an event says.
func MessageOf(event sse.Event) upgrade.Message {
	return upgrade.Message{Data: event.Data, Event: resumableFrom(event.ID()), Retry: event.Retry()}
}

// maxEventID bounds the ids that a record keeps, and a request for the rest of a stream
// bears: servers take headers of 8 KiB.
const maxEventID = 4 << 10

// resumableFrom returns the id of an event if a stream can be resumed from there; else "",
// and the one before it stands.
func resumableFrom(id string) string {
	if len(id) > maxEventID || strings.ContainsFunc(id, unicode.IsControl) {
		return ""
	}
	return id
}

// Event returns the next event; one without data bears no message. What breaks off at the
// end of the stream is none, but for a whole response, and its id is not how far the stream came.
func (a *HeldAnswer) Event() (sse.Event, error) {
	a.body.next()
	event, err := a.events.Next()
	switch {
	case err != nil:
		return sse.Event{}, err
	case event.Cut:
		return sse.Event{}, fault.EventTooLarge
	case !event.Ends && !exchange.EndsWhole(&event):
		return a.events.Next() // what ended the stream
	case !mcp.MayBeMessage(event.Data):
		event.Data = nil
	}
	return event, nil
}

// whole returns the one message of an answer that is no stream.
func (a *HeldAnswer) whole() ([]byte, error) {
	if a.over {
		return nil, io.EOF
	}
	a.over = true
	if a.Response.ContentLength > a.most {
		return nil, fault.ResultTooLarge
	}
	body, err := a.read()
	switch {
	case err != nil:
		return nil, err
	case int64(len(body)) > a.most:
		return nil, fault.ResultTooLarge
	case a.Response.Status == wire.StatusOK && exchange.ShapeOf(a.Response) == exchange.JSON, a.saysError(body):
		return body, nil
	case a.Response.Status == wire.StatusOK:
		return nil, fault.NotJSON
	}
	return nil, &mcp.Error{Code: mcp.CodeInternal, Reason: mcp.ReasonBadUpstream, Outcome: FateBy(a.Response.Status),
		Message: fmt.Sprintf("the server answered %d %s", a.Response.Status, a.Response.Phrase)}
}

// read returns the body, or so much of it as shows that it is too large.
func (a *HeldAnswer) read() ([]byte, error) {
	if a.all != nil {
		return a.all, nil
	}
	return ReadAll(io.LimitReader(a.body, a.most+1), a.Response.ContentLength)
}

// FateBy is what a status that bears no JSON-RPC says of a call: 4xx refuses the request, 408
// aside, which says that it did not come whole in time; what else failed may have begun.
func FateBy(status int) mcp.Outcome {
	if status/100 == 4 && status != wire.StatusRequestTimeout {
		return mcp.NotExecuted
	}
	return mcp.Unknown
}

// saysError reports whether an answer with another status, or of another type, bears a
// JSON-RPC error all the same.
func (a *HeldAnswer) saysError(body []byte) bool {
	return a.Response.Status >= 400 && mcp.ErrorObject(body) != nil
}

// Close implements upgrade.Exchange.
func (a *HeldAnswer) Close() { a.Response.Body.Close() }
