package proxy

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"berth/proxy/inbound"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/upgrade"
)

// heldCall is the request as a task's call: what belongs to the call, and whatever else
// goes upstream with it.
func (x *request) heldCall() *upgrade.Call {
	all := x.outboundHeaders()
	own := map[string][]string{}
	for name, values := range all {
		if isCallsOwn(name) {
			own[name] = values
		}
	}
	session := all.Get(mcp.HeaderSession)
	return &upgrade.Call{Body: x.Body, Own: own, Session: session, Envelope: x.envelopeOf(all)}
}

// envelope is what the request bears beside its call: who makes it, from where, with what
// right.
func (x *request) envelope() upgrade.Envelope { return x.envelopeOf(x.outboundHeaders()) }

// envelopeOf takes what belongs to one request out of headers.
func (x *request) envelopeOf(headers wire.Header) upgrade.Envelope {
	e := upgrade.Envelope{Host: x.HTTP.Host, Query: x.HTTP.URL.RawQuery, Header: headers}
	e.Bare = e.Query == ""
	for name := range e.Header {
		switch {
		case isCallsOwn(name), name == inbound.HeaderOnce, name == "Content-Length", name == mcp.HeaderSession, name == mcp.HeaderLastEvent:
			delete(e.Header, name) // of one request each, or kept beside
		case !isHarmless(name):
			e.Bare = false
		}
	}
	return e
}

// isCallsOwn: headers that mirror a call's body, or say how it is to be read and answered.
func isCallsOwn(name string) bool {
	switch name {
	case "Accept", "Content-Type":
		return true
	}
	return strings.HasPrefix(name, "Mcp-") && name != mcp.HeaderSession
}

// isHarmless: headers that cannot be what a caller authenticates with.
func isHarmless(name string) bool {
	switch name {
	case "Accept-Encoding", "Accept-Language", "User-Agent", "Origin", "Referer", "Cache-Control", "Pragma",
		"Traceparent", "Tracestate", "Baggage", "Dnt", "Priority":
		return true
	}
	return inbound.IsForwarding(name) || strings.HasPrefix(name, "Sec-")
}

// heldAnswer is the answer to a held call, read message by message.
type heldAnswer struct {
	response *wire.Response
	body     *roomReader      // of response, or what buffers it
	events   *mcp.EventReader // nil: the body is one message
	most     int64            // bytes of one message
	over     bool             // the one message was read
}

// newHeldAnswer reads an answer, messages of at most that many bytes, within room. ctx is the
// exchange's.
func newHeldAnswer(ctx context.Context, response *wire.Response, body io.Reader, most int64, room *upgrade.Room) *heldAnswer {
	a := &heldAnswer{response: response, most: most, body: newRoomReader(ctx, body, most, room)}
	if isStream(response) {
		a.events = mcp.NewLongEventReader(a.body, int(most))
	} else if n := response.ContentLength; n > 0 {
		a.body.most = min(n, most)
	}
	return a
}

func isStream(response *wire.Response) bool {
	return exchange.ShapeOf(response) == exchange.EventStream && response.Status/100 == 2
}

// Next implements upgrade.Exchange.
func (a *heldAnswer) Next() (upgrade.Message, error) {
	if a.events == nil {
		body, err := a.whole()
		return upgrade.Message{Data: body, Whole: true}, err
	}
	event, err := a.event()
	return messageOf(event), err
}

// messageOf is what an event says.
func messageOf(event mcp.Event) upgrade.Message {
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

// event returns the next event; one without data bears no message. What breaks off at the
// end of the stream is none, and its id is not how far the stream came.
func (a *heldAnswer) event() (mcp.Event, error) {
	a.body.next()
	event, err := a.events.Next()
	switch {
	case err != nil:
		return mcp.Event{}, err
	case event.Cut:
		return mcp.Event{}, fault.EventTooLarge
	case !event.Ends:
		return a.events.Next() // what ended the stream
	case !mcp.MayBeMessage(event.Data):
		event.Data = nil
	}
	return event, nil
}

// whole returns the one message of an answer that is no stream.
func (a *heldAnswer) whole() ([]byte, error) {
	if a.over {
		return nil, io.EOF
	}
	a.over = true
	if a.response.ContentLength > a.most {
		return nil, fault.ResultTooLarge
	}
	body, err := io.ReadAll(io.LimitReader(a.body, a.most+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(body)) > a.most:
		return nil, fault.ResultTooLarge
	case a.response.Status == wire.StatusOK && exchange.ShapeOf(a.response) == exchange.JSON, a.saysError(body):
		return body, nil
	case a.response.Status == wire.StatusOK:
		return nil, fault.NotJSON
	}
	return nil, &mcp.Error{Code: mcp.CodeInternal, Reason: mcp.ReasonBadUpstream, Outcome: fateBy(a.response.Status),
		Message: fmt.Sprintf("the server answered %d %s", a.response.Status, a.response.Phrase)}
}

// fateBy is what a status that bears no JSON-RPC says of a call: 4xx refuses the request, 408
// aside, which says that it did not come whole in time; what else failed may have begun.
func fateBy(status int) mcp.Outcome {
	if status/100 == 4 && status != wire.StatusRequestTimeout {
		return mcp.NotExecuted
	}
	return mcp.Unknown
}

// saysError reports whether an answer with another status, or of another type, bears a
// JSON-RPC error all the same.
func (a *heldAnswer) saysError(body []byte) bool {
	return a.response.Status >= 400 && mcp.ErrorObject(body) != nil
}

// Close implements upgrade.Exchange.
func (a *heldAnswer) Close() { a.response.Body.Close() }
