package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
)

// maxAnswer bounds one message of an upstream's, in bytes.
const maxAnswer = 64 << 20

// item is what comes next of an answer.
type item struct {
	message []byte // nil: err says why nothing comes any more
	event   string // id of the last event so far; "": it cannot be resumed from
	err     error
}

// flow is an answer of the legacy era that is an event stream, read by a goroutine of its own and
// resumed where it breaks.
type flow struct {
	f     *face
	out   *exchange.Request
	l     *loan
	items chan item
	inbox chan item // what came on the session's own stream
	ctx   context.Context
	stop  context.CancelFunc // ends it; the call goes on at the upstream
	event atomic.Value       // string: id of the last event so far
}

// newFlow returns the flow of a call's answer, and has the call asked what comes on the session's
// own stream.
func newFlow(c *call, l *loan) *flow {
	fl := &flow{f: c.f, out: c.out, l: l, items: make(chan item), inbox: make(chan item, maxInbox)}
	fl.event.Store("")
	fl.ctx, fl.stop = context.WithCancel(context.Background())
	c.f.mu.Lock()
	l.asker = fl
	c.f.mu.Unlock()
	return fl
}

// maxInbox bounds what a session's own stream has brought for a call that does not read.
const maxInbox = 64

// hear has the call hear what came on its session's own stream. It reports whether it may.
func (fl *flow) hear(message []byte) bool {
	event, _ := fl.event.Load().(string)
	if fl.ctx.Err() != nil {
		return false
	}
	select {
	case fl.inbox <- item{message: message, event: event}:
		return true
	default:
		return false
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
		defer head.Body.Close()
		stopped := context.AfterFunc(fl.ctx, func() { head.Body.Close() })
		defer stopped()
		message, err := readWhole(head.Response)
		if err != nil || !mcp.MayBeMessage(message) {
			message = nil
		}
		fl.put(fl.ctx, item{message: message, err: err})
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
				fl.put(ctx, item{err: err})
				return
			}
		}
		event, err = fl.readAll(ctx, response, event)
		response.Body.Close()
		response = nil
		if event == "" || ctx.Err() != nil {
			fl.put(ctx, item{err: err})
			return
		}
	}
}

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
func (fl *flow) readAll(ctx context.Context, response *wire.Response, event string) (last string, err error) {
	stopped := context.AfterFunc(ctx, func() { response.Body.Close() })
	defer stopped()
	events := mcp.NewLongEventReader(response.Body, maxAnswer)
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
			event = id
			fl.event.Store(id)
		}
		if mcp.MayBeMessage(e.Data) && !fl.put(ctx, item{message: bytes.Clone(e.Data), event: event}) {
			return event, context.Cause(ctx)
		}
	}
}

// maxEvent bounds the ids of events that streams are resumed from: they are sent in a header.
const maxEvent = 4 << 10

// How long a stream is tried to be resumed, and how far apart.
const (
	resumeFor   = 30 * time.Second
	resumeFirst = 20 * time.Millisecond
	resumeMost  = 2 * time.Second
)

// resume asks for what came after an event. While another one reads (409), it is waited for.
func (fl *flow) resume(ctx context.Context, event string) (*wire.Response, error) {
	var since time.Time
	for pause := time.Duration(0); ; pause = min(max(2*pause, resumeFirst), resumeMost) {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(pause):
		}
		response, err := fl.tryResume(ctx, event)
		switch {
		case err == nil || errors.Is(err, errSessionLost) || errors.Is(err, errReset):
			return response, err
		case errors.Is(err, errStands):
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > resumeFor:
			return nil, errReset
		}
	}
}

// errStands says that somebody else reads the stream.
var errStands = errors.New("bridge: the stream is being read")

func (fl *flow) tryResume(ctx context.Context, event string) (*wire.Response, error) {
	out := fl.l.request(fl.out, wire.MethodGet, nil)
	out.Header.Set(mcp.HeaderLastEvent, event)
	response, err := outbound.To(fl.f.b.o.Endpoint).Send(ctx, fl.f.u, out, outbound.Terms{Watched: true})
	if err != nil {
		return nil, err
	}
	if response.Status == wire.StatusOK && exchange.ShapeOf(response) == exchange.EventStream {
		return response, nil
	}
	response.Body.Close()
	switch status := response.Status; {
	case status == wire.StatusConflict:
		return nil, errStands
	case outbound.DeniesSession(status):
		return nil, errSessionLost
	case status == wire.StatusTooManyRequests || status >= 500 && status != wire.StatusNotImplemented:
		return nil, fmt.Errorf("bridge: a stream is not resumed yet: HTTP %d", status)
	}
	return nil, errReset
}

// readWhole reads an answer that is one message.
func readWhole(response *wire.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errAnswerTooLarge
	}
	return body, err
}
