package httpsse

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"berth/internal/exchange"
	"berth/internal/legacyface"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// Options bound a Sender. The zero value has the defaults.
type Options = legacyface.Options

// Sender sends requests of Streamable HTTP to servers of HTTP with SSE. The URL of a request
// is that of the server's stream; "sse+" may stand before its scheme. It implements
// exchange.Sender; its Close ends all sessions.
type Sender struct{ *legacyface.Face }

// New returns a sender over client, which it closes with itself.
func New(client exchange.Sender, o Options) *Sender {
	return &Sender{legacyface.New(server{client}, o)}
}

// server implements legacyface.Server for all servers of the transport.
type server struct{ client exchange.Sender }

const (
	openTime     = 30 * time.Second // for the opening of a stream by those who name no bound
	announceTime = 10 * time.Second // from its beginning to its endpoint, at most: servers name it at once
)

var (
	errLate  = errors.New("httpsse: no endpoint was announced in time")
	errEnded = errors.New("httpsse: the stream ended before an endpoint was announced")

	errNoStream = &mcp.Error{
		Status: wire.StatusBadGateway, Code: mcp.CodeInternal, Reason: mcp.ReasonBadUpstream, Outcome: mcp.NotExecuted,
		Message: "the server answers the opening of its stream with something else",
	}
	errOrigin = &mcp.Error{
		Status: wire.StatusBadGateway, Code: mcp.CodeInternal, Reason: mcp.ReasonBadUpstream, Outcome: mcp.NotExecuted,
		Message: "the server announces no endpoint of its own origin",
	}
)

// Close implements legacyface.Server.
func (s server) Close() { s.client.Close() }

// Ping implements legacyface.Server: it opens a stream, and closes it.
func (s server) Ping(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	conn, answer, err := s.Dial(ctx, request, wait, deaf{})
	if conn != nil {
		conn.Close()
	}
	return answer, err
}

// deaf hears nothing.
type deaf struct{}

func (deaf) Hear([]byte)                   {}
func (deaf) HearLong(_, _ []byte) (_ bool) { return false }
func (deaf) Lost(*mcp.Error)               {}

// Dial implements legacyface.Server.
func (s server) Dial(ctx context.Context, request *exchange.Request, wait time.Duration, hears legacyface.Listener) (legacyface.Conn, *wire.Response, error) {
	until := time.Now().Add(cmp.Or(wait, openTime))
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer stop()
	get := opening(request)
	response, err := s.client.Send(own, get, time.Until(until))
	switch {
	case err != nil:
		cancel(nil)
		return nil, nil, unsent(err)
	case response.Status != wire.StatusOK:
		response.Body = body{response.Body, cancel}
		return nil, response, nil
	case exchange.ShapeOf(response) != exchange.EventStream:
		response.Body.Close()
		cancel(nil)
		return nil, exchange.Refusal(errNoStream, mcp.ID(request.Body)), nil
	}
	l := &conn{
		client: s.client, opening: get, hears: hears, ctx: own, cancel: cancel,
		announced: make(chan string, 1), ended: make(chan struct{}),
	}
	go l.listen(response)
	if most := time.Now().Add(announceTime); most.Before(until) {
		until = most
	}
	answer, err := l.await(ctx, until, mcp.ID(request.Body))
	if answer != nil || err != nil {
		l.Close()
		return nil, answer, err
	}
	return l, nil, nil
}

// opening is the GET that opens a stream for whoever sends request.
func opening(request *exchange.Request) *exchange.Request {
	at := *request.URL
	at.Scheme = strings.TrimPrefix(at.Scheme, "sse+")
	get := &exchange.Request{Method: wire.MethodGet, URL: &at, Host: request.Host, Header: header(request), Caller: request.Caller}
	for _, name := range []string{"Content-Type", "Content-Length", "Content-Encoding"} {
		get.Header.Del(name)
	}
	get.Header.Set("Accept", "text/event-stream")
	return get
}

// header returns what the server is shown of a request's headers. It knows no session, and
// resumes nothing.
func header(request *exchange.Request) *wire.Header {
	h := request.Header.Clone()
	if h == nil {
		h = new(wire.Header)
	}
	h.Del(mcp.HeaderSession)
	h.Del(mcp.HeaderLastEvent)
	return h
}

// unsent is why a stream was not opened: no message was sent then.
func unsent(err error) error {
	failed, ok := errors.AsType[*exchange.SendError](err)
	if !ok {
		return &exchange.SendError{Err: err}
	}
	as := *failed
	as.Sent = false
	return &as
}
