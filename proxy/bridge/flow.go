package bridge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// maxAnswer bounds one message of an upstream's, in bytes.
const maxAnswer = 64 << 20

// item is what comes next of an answer.
type item struct {
	message []byte     // nil: err says why nothing comes any more
	answer  mcp.Answer // what the message is
	event   string     // id of the last event so far; "": it cannot be resumed from
	err     error
	aside   bool // it came on no call's stream
}

// itemOf is a message that came.
func itemOf(message []byte, event string) item {
	a, err := mcp.PeekAnswer(message, false)
	if err != nil {
		return item{err: errUnusable}
	}
	return item{message: message, answer: a, event: event}
}

// flow is an answer of the legacy era that is an event stream, read by a goroutine of its own and
// resumed where it breaks.
type flow struct {
	f      *face
	out    *exchange.Request
	l      *loan
	id     []byte // of the call in its session
	asks   bool   // it may be asked
	items  chan item
	inbox  chan *item // what came on the session's own stream
	ctx    context.Context
	stop   context.CancelFunc // ends it; the call goes on at the upstream
	event  atomic.Value       // string: id of the last event so far
	before atomic.Value       // string: id of the one before
	pause  time.Duration      // before it is resumed; of who reads, as the next one
	alone  time.Duration      // for which the upstream wants to be left alone before

	mu    sync.Mutex // guards the fields below
	rests bool       // nobody reads on
	broke bool       // its stream did meanwhile: who reads on resumes it
}

// newFlow returns the flow of a call's answer, and has the call asked what comes on the session's
// own stream.
func newFlow(c *call, l *loan, id []byte) *flow {
	fl := &flow{f: c.f, out: c.out, l: l, id: id, asks: asks(c.Method), items: make(chan item), inbox: make(chan *item, maxInbox)}
	fl.event.Store("")
	fl.before.Store("")
	fl.ctx, fl.stop = context.WithCancel(context.Background())
	c.f.mu.Lock()
	l.asker = fl
	l.called = l.called || fl.asks
	c.f.mu.Unlock()
	return fl
}

// maxInbox bounds what a session's own stream has brought for a call that does not read.
const maxInbox = 64

// hear has the call hear what came on its session's own stream. It reports whether it may.
func (fl *flow) hear(it item) bool {
	if fl.ctx.Err() != nil || it.answer.ID == nil && len(fl.inbox) >= maxInbox/2 { // the rest is for questions
		return false
	}
	it.event, _ = fl.event.Load().(string)
	select {
	case fl.inbox <- &it:
		return true
	default:
		return false
	}
}

// takeInbox takes what was heard on the session's own stream.
func (fl *flow) takeInbox() (heard []item) {
	for {
		select {
		case it := <-fl.inbox:
			heard = append(heard, *it)
		default:
			return heard
		}
	}
}

// leave ends the flow, and that its call is asked anything.
func (fl *flow) leave() {
	fl.stop()
	fl.f.mu.Lock()
	defer fl.f.mu.Unlock()
	if fl.l.asker == fl {
		fl.l.asker = nil
	}
}

// runWhen is run on an answer that has not begun.
func (fl *flow) runWhen(heads <-chan begun) {
	head := <-heads
	switch {
	case head.err != nil:
		fl.put(fl.ctx, item{err: head.err})
	case head.Status/100 == 2 && exchange.ShapeOf(head.Response) == exchange.EventStream:
		fl.run(head.Response, "")
	default:
		response := head.Kept() // it may be closed while it is read
		defer response.Body.Close()
		stopped := context.AfterFunc(fl.ctx, func() { response.Body.Close() })
		defer stopped()
		message, err := readWhole(response)
		if err == nil && mcp.MayBeMessage(message) {
			fl.put(fl.ctx, itemOf(message, ""))
		}
		fl.put(fl.ctx, item{err: err}) // what was no answer to the call has none behind it
	}
}

// run reads an answer that is an event stream, or, if response is nil, what came after an event.
func (fl *flow) run(response *wire.Response, event string) {
	ctx := fl.ctx
	fl.event.Store(event)
	var err error
	for {
		if response == nil {
			if response, err = fl.resume(ctx, event); err != nil {
				if !fl.breaks() {
					fl.put(ctx, item{err: err})
				}
				return
			}
		}
		events := response.Body
		event, err = fl.readAll(ctx, events, event)
		events.Close()
		response = nil
		switch {
		case errors.Is(err, errOver):
			return
		case event == "" || ctx.Err() != nil:
			fl.put(ctx, item{err: err})
			return
		case fl.breaks():
			return
		}
	}
}

// rest has nobody read on for now, as long as the call's client is asked.
func (fl *flow) rest() {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.rests = true
}

// breaks notes that the stream broke while it rests. It reports whether it does.
func (fl *flow) breaks() bool {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	fl.broke = fl.rests
	return fl.rests
}

// readOn undoes rest.
func (fl *flow) readOn() {
	fl.mu.Lock()
	defer fl.mu.Unlock()
	if fl.broke {
		event, _ := fl.event.Load().(string)
		go fl.run(nil, event)
	}
	fl.rests, fl.broke = false, false
}

// errOver says that the call has its answer.
var errOver = errors.New("bridge: the answer has come")

// put hands an item over. It reports whether somebody takes it.
func (fl *flow) put(ctx context.Context, it item) bool {
	select {
	case fl.items <- it:
		return true
	case <-ctx.Done():
		return false
	}
}

// readAll reads a stream to its end. It returns the id of its last event, or the one before it.
func (fl *flow) readAll(ctx context.Context, stream io.ReadCloser, event string) (last string, err error) {
	stopped := context.AfterFunc(ctx, func() { stream.Close() })
	defer stopped()
	events := mcp.NewLongEventReader(stream, maxAnswer)
	for {
		e, err := events.Next()
		switch {
		case err != nil:
			return event, err
		case e.Cut:
			return "", errAnswerTooLarge
		case !e.Ends:
			continue
		}
		if id := e.ID(); id != "" && len(id) <= maxEvent {
			if id != event {
				fl.before.Store(event)
			}
			event = id
			fl.event.Store(id)
		}
		leaveAlone(&fl.alone, &e)
		if !mcp.MayBeMessage(e.Data) {
			continue
		}
		fl.pause = 0
		switch it := itemOf(bytes.Clone(e.Data), event); {
		case !fl.put(ctx, it):
			return event, context.Cause(ctx)
		case it.answer.Answers(fl.id):
			return event, errOver
		}
	}
}

// maxEvent bounds the ids of events that streams are resumed from: they are sent in a header.
const maxEvent = 4 << 10

// presized is how long an answer may say that it is to be believed before it has come.
const presized = 64 << 10

// readWhole reads an answer that is one message.
func readWhole(response *wire.Response) ([]byte, error) {
	if n := response.ContentLength; n >= 0 && n <= presized {
		body := make([]byte, n)
		_, err := io.ReadFull(response.Body, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errAnswerTooLarge
	}
	return body, err
}
