package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
	"berth/proxy/bridge/legacy"
	"berth/proxy/fault"
)

// Item is what comes next of an answer.
type Item struct {
	Message []byte     // nil: Err says why nothing comes any more
	Answer  mcp.Answer // what the message is
	Event   string     // id of the last event so far; "": it cannot be resumed from
	Err     error
	Aside   bool // it came on no call's stream
	Batched bool // others may come in the same event (2025-03-26)
}

// itemOf is a message that came.
func itemOf(message []byte, event string) Item {
	a, err := mcp.PeekAnswer(message, false)
	if err != nil {
		return Item{Err: fault.BadUpstream}
	}
	return Item{Message: message, Answer: a, Event: event}
}

// Flow is an answer of the legacy era that is an event stream, read by a goroutine of its own and
// resumed where it breaks. It is made by New; Stop ends it.
type Flow struct {
	Items chan Item  // what comes of it; nobody closes it
	Inbox chan *Item // what came on the session's own stream; nobody closes it
	Asks  bool       // it may be asked

	Stop context.CancelFunc // ends the flow; the call goes on at the upstream

	s       *legacy.Session
	replays *Replays // of its upstream
	out     *exchange.Request
	id      []byte // of the call in its session
	ctx     context.Context

	event  atomic.Value  // string: id of the last event so far
	before atomic.Value  // string: id of the one before
	spoke  atomic.Bool   // a message has come
	pause  time.Duration // before it is resumed; of who reads, as the next one
	alone  time.Duration // for which the upstream wants to be left alone before

	mu    sync.Mutex // guards the fields below
	rests bool       // nobody reads on
	broke bool       // its stream did meanwhile: who reads on resumes it
}

// New returns the flow of the answer to a call, which id names in its session: raw JSON. It is asked for in the name of
// who sends out. asks says that the call may be asked.
func New(ctx context.Context, s *legacy.Session, replays *Replays, out *exchange.Request, id []byte, asks bool) *Flow {
	fl := &Flow{s: s, replays: replays, out: out, id: id, Asks: asks, Items: make(chan Item), Inbox: make(chan *Item, MaxInbox)}
	fl.event.Store("")
	fl.before.Store("")
	fl.ctx, fl.Stop = context.WithCancel(ctx)
	return fl
}

// Context ends with the flow.
func (fl *Flow) Context() context.Context { return fl.ctx }

// Begin has what comes meanwhile be from an event on.
func (fl *Flow) Begin(event string) { fl.event.Store(event) }

// Opening is the id of the last event so far where none has borne a message: what comes may be resumed from there. "": there is none, or one has.
func (fl *Flow) Opening() string {
	event, _ := fl.event.Load().(string)
	if fl.spoke.Load() {
		return ""
	}
	return event
}

// RunWhen is Run on an answer that has not begun.
func (fl *Flow) RunWhen(heads <-chan legacy.Begun) {
	head := <-heads
	switch {
	case head.Err != nil:
		fl.put(fl.ctx, Item{Err: head.Err})
	case head.Status/100 == 2 && exchange.ShapeOf(head.Response) == exchange.EventStream:
		fl.Run(head.Response, "")
	default:
		response := head.Kept() // it may be closed while it is read
		defer response.Body.Close()
		stopped := context.AfterFunc(fl.ctx, func() { response.Body.Close() })
		defer stopped()
		message, err := legacy.ReadWhole(response)
		switch {
		case err != nil:
		case refuses(response.Status), response.Status/100 != 2 && !mcp.MayBeMessage(message):
			err = &Refused{&wire.Response{Status: response.Status, Header: response.Header, Unasked: response.Unasked}, message}
		case mcp.MayBeMessage(message):
			fl.put(fl.ctx, itemOf(message, ""))
		}
		fl.put(fl.ctx, Item{Err: err}) // what was no answer to the call has none behind it
	}
}

// Refused is what an answer has in its place whose upstream does not take its caller's credentials, or anything now, or answers with an
// HTTP error that bears no message.
type Refused struct {
	*wire.Response        // without its body
	Message        []byte // that
}

// Error implements error.
func (r *Refused) Error() string { return fmt.Sprintf("bridge: the upstream answered %d", r.Status) }

func refuses(status int) bool {
	return wire.RefusesCredentials(status) || status == wire.StatusTooManyRequests || status == wire.StatusServiceUnavailable
}

// Run reads an answer that is an event stream, or, if response is nil, what came after an event.
func (fl *Flow) Run(response *wire.Response, event string) {
	ctx := fl.ctx
	fl.event.Store(event)
	var err error
	for {
		if response == nil {
			if response, err = fl.resume(ctx, event); err != nil {
				if !fl.breaks() {
					fl.put(ctx, Item{Err: err})
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
			fl.put(ctx, Item{Err: err})
			return
		case fl.breaks():
			return
		}
	}
}

// errOver says that the call has its answer.
var errOver = errors.New("bridge: the answer has come")

// put hands an item over. It reports whether somebody takes it.
func (fl *Flow) put(ctx context.Context, it Item) bool {
	select {
	case fl.Items <- it:
		return true
	case <-ctx.Done():
		return false
	}
}

// readAll reads a stream to its end. It returns the id of its last event, or the one before it.
func (fl *Flow) readAll(ctx context.Context, stream io.ReadCloser, event string) (last string, err error) {
	stopped := context.AfterFunc(ctx, func() { stream.Close() })
	defer stopped()
	events := sse.NewReader(stream, legacy.MaxAnswer)
	for {
		e, err := events.Next()
		switch {
		case err != nil:
			return event, err
		case e.Cut:
			return "", fault.AnswerTooLarge
		case !e.Ends && !exchange.EndsWhole(&e):
			continue
		}
		speaks := mcp.MayBeMessage(e.Data)
		if speaks {
			fl.spoke.Store(true) // before its event is known: see Opening
		}
		if id := e.ID(); id != "" && len(id) <= legacy.MaxEvent {
			if id != event {
				fl.before.Store(event)
			}
			event = id
			fl.event.Store(id)
		}
		legacy.LeaveAlone(&fl.alone, &e)
		if !speaks {
			continue
		}
		fl.pause = 0
		if over, taken := fl.putAll(ctx, bytes.Clone(e.Data), event); !taken {
			return event, context.Cause(ctx)
		} else if over {
			return event, errOver
		}
	}
}

// putAll hands over what an event says: a message, or a batch of them (2025-03-26). over: the answer is among them.
func (fl *Flow) putAll(ctx context.Context, said []byte, event string) (over, taken bool) {
	for message, err := range mcp.Messages(said) {
		it := Item{Err: fault.BadUpstream}
		if err == nil {
			it = itemOf(message, event)
		}
		it.Batched = mcp.IsBatch(said)
		if !fl.put(ctx, it) {
			return over, over // who has the answer reads no more
		}
		over = over || it.Answer.Answers(fl.id)
	}
	return over, true
}
