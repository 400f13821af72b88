package httpsse

import (
	"context"
	"io"
	"net/url"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/legacyface"
	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
)

const (
	maxMessage = 4 << 20          // bytes of an event, or of a body that answers a message
	bodyTime   = 30 * time.Second // how long such a body may take
	answerTime = time.Second      // how long a POST may take whose session's stream has ended
)

// conn is the stream of a session, and where its messages go. It implements legacyface.Conn.
type conn struct {
	client   exchange.Sender
	opening  *exchange.Request // the GET
	endpoint *url.URL          // where messages are POSTed to
	hears    legacyface.Listener

	ctx    context.Context // of the stream
	cancel context.CancelCauseFunc

	mu       sync.Mutex    // guards the fields below
	saying   int           // POSTs without an answer
	answered chan struct{} // closed when there are none; nil: nobody waits for that

	announced chan string   // the endpoint, once
	ended     chan struct{} // closed with the stream
}

// await waits for the endpoint. The answer is a refusal to the request with this id.
func (l *conn) await(ctx context.Context, until time.Time, id []byte) (*wire.Response, error) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case announced := <-l.announced:
		endpoint, ok := resolve(l.opening.URL, l.opening.Host, announced)
		if !ok {
			return exchange.Refusal(errOrigin, id), nil
		}
		l.endpoint = endpoint
		return nil, nil
	case <-l.ended:
		return nil, &exchange.SendError{Err: errEnded}
	case <-timer.C:
		return nil, &exchange.SendError{Err: errLate, TimedOut: true}
	case <-ctx.Done():
		return nil, &exchange.SendError{Err: context.Cause(ctx)}
	}
}

// listen hands on what the stream says, to its end.
func (l *conn) listen(stream *wire.Response) {
	defer close(l.ended)
	defer stream.Body.Close()
	events := sse.NewReader(stream.Body, maxMessage)
	var told long
	for {
		event, err := events.Next()
		switch {
		case err != nil:
			l.hearAnswers()
			l.hears.Lost(legacyface.LostBecause(mcp.ReasonSessionLost, "the server has ended the session's stream"))
			return
		case event.Cut:
			told.begin(event.Data)
		case event.Tail && !(told.add(event.Raw) && (!event.Ends || l.hears.HearLong(told.head, sse.EndOfData(told.end)))):
			l.hears.Lost(tooLarge)
			return
		}
		if !event.Ends || event.Tail {
			continue
		}
		if endpoint := event.DataOf("endpoint"); endpoint != nil {
			select {
			case l.announced <- string(endpoint):
			default: // what is announced once more is not heard
			}
		}
		if mcp.MayBeMessage(event.Data) {
			l.hears.Hear(event.Data)
		}
	}
}

// hearAnswers waits a little for the answers to what is being said as the stream ends: a server that
// refuses a message, because it does not know the session any more, has not executed it.
func (l *conn) hearAnswers() {
	l.mu.Lock()
	if l.saying == 0 {
		l.mu.Unlock()
		return
	}
	answered := make(chan struct{})
	l.answered = answered
	l.mu.Unlock()
	select {
	case <-answered:
	case <-time.After(answerTime):
	case <-l.ctx.Done():
	}
}

// begin notes a POST that is to be answered.
func (l *conn) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saying++
}

// finish notes its answer, or its failure.
func (l *conn) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.saying--; l.saying == 0 && l.answered != nil {
		close(l.answered)
		l.answered = nil
	}
}

var tooLarge = legacyface.LostBecause(mcp.ReasonEventTooLarge, "the server has sent a message that is too large")

// Say implements legacyface.Conn.
func (l *conn) Say(ctx context.Context, request *exchange.Request, message []byte, wait time.Duration) (*wire.Response, error) {
	if request == nil {
		request = l.opening
	}
	l.begin()
	defer l.finish()
	out := &exchange.Request{
		Method: wire.MethodPost, URL: l.endpoint, Host: request.Host, Header: header(request), Body: message, Caller: request.Caller,
	}
	out.Header.Set("Content-Type", "application/json")
	own, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(l.ctx, func() { cancel(context.Cause(l.ctx)) })
	defer stop()
	response, err := l.client.Send(own, out, wait)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	response.Body = body{response.Body, cancel}
	if response.Status/100 != 2 {
		return response, nil
	}
	return nil, l.hear(response)
}

// hear hears what the answer to a message says: mostly nothing.
func (l *conn) hear(response *wire.Response) error {
	said := response.Body // the rest of the answer is not there any more when its time is over
	defer said.Close()
	shape := exchange.ShapeOf(response)
	answers := shape == exchange.JSON
	if shape != exchange.EventStream {
		shape = exchange.JSON // whatever it is called
		timer := time.AfterFunc(bodyTime, func() { said.Close() })
		defer timer.Stop()
	}
	reader := exchange.NewLongReader(shape, said, maxMessage)
	var told long
	for {
		piece, err := reader.Next()
		switch {
		case err == io.EOF:
			if told.size > 0 && shape == exchange.JSON && !l.hears.HearLong(told.head, told.end) {
				l.hears.Lost(tooLarge)
			}
			return nil
		case err != nil && answers:
			return &exchange.SendError{Err: err, Sent: true}
		case err != nil:
			return nil
		case piece.Cut:
			told.begin(piece.Message)
		case told.size > 0:
			if !told.add(piece.Raw) || piece.Between && !l.hears.HearLong(told.head, sse.EndOfData(told.end)) {
				l.hears.Lost(tooLarge)
				return nil
			}
			if piece.Between {
				told = long{}
			}
		case mcp.MayBeMessage(piece.Message):
			l.hears.Hear(piece.Message)
		}
	}
}

// Close implements legacyface.Conn.
func (l *conn) Close() { l.cancel(nil) }

// body ends an exchange with its answer.
type body struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

// Close implements io.Closer.
func (b body) Close() error {
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}
