package proxy

import (
	"bytes"
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/reply"
	"berth/routing"
	"berth/upgrade"
)

// patience is how long the client of a call waits before it is given the task.
type patience struct {
	after   time.Duration // for the answer, whatever that is
	grace   time.Duration // for a refusal alone; from the same moment
	lasting bool          // the task does not depend on the client: others may have the handle
}

func (p patience) most() time.Duration { return max(p.after, p.grace) }

// withhold is how long the client may yet get something else than the handle.
func (p patience) withhold() time.Duration {
	if p.most() == 0 {
		return 0
	}
	return p.most() + judgeTime
}

// judgeTime bounds for how long the clock of a client stands while a refusal is judged.
const judgeTime = 6 * time.Second

// attached is the client of a call that may become a task: until its patience is over it
// waits for the answer itself, or for a refusal. The held call's goroutine offers it what
// comes; the request's takes that, or has left.
type attached struct {
	patience
	x        *request // the request's goroutine's alone; nil once it has left
	endpoint *inbound.Endpoint
	held     *upgrade.Held
	offers   chan offer
	left     chan struct{} // closed when the client does not wait for the answer any more
	stay     func() bool   // keeps the call from ending with its client; false: it has ended

	narrow bool // nothing but a refusal is taken any more
	until  time.Time
	timer  *time.Timer   // of until
	rest   time.Duration // of the time until then, while a refusal is judged
	opened bool          // an event stream to the client has begun
}

// offer is what has come of the call: err, waits, judging, judged, begins, an event, or an
// answer that is no stream.
type offer struct {
	u        *routing.Upstream
	response *wire.Response
	event    *mcp.Event
	id       []byte // of the request, at the upstream
	withheld bool   // it is not for the client, whatever it says
	refuses  bool   // it says that the upstream has not taken the call on
	err      error
	waits    bool        // the call waits for its turn
	judging  bool        // the status of a refusal has come: its clock stands until the rest has
	judged   bool        // it was none
	begins   bool        // an event stream has begun
	answered chan<- bool // takes one: whether the client has its answer now
}

// next is what becomes of a client that waits.
type next int

const (
	goOn     next = iota // it waits on
	answered             // it has its answer, or is gone
	due                  // it is given the task
)

// attend starts the call and gives its client the answer while p lasts, and then the
// handle.
func (x *request) attend(held *upgrade.Held, p patience) error {
	a := &attached{
		patience: p, x: x, endpoint: x.Endpoint, held: held, offers: make(chan offer), left: make(chan struct{}),
		stay: func() bool { return true }, narrow: p.after == 0,
	}
	defer a.leave()
	a.until = time.Now().Add(p.after)
	if a.narrow {
		a.until = time.Now().Add(p.grace)
	}
	a.timer = time.NewTimer(time.Until(a.until))
	defer a.timer.Stop()
	if !p.lasting {
		// The answer is read under the held call's context, not the request's.
		a.stay = context.AfterFunc(x.HTTP.Context(), held.Discard)
		defer a.stay()
	}
	held.Start(a)
	return a.wait()
}

func (a *attached) wait() error {
	for {
		select {
		case o := <-a.offers:
			next, err := a.take(o)
			o.answered <- next == answered
			switch {
			case err != nil || next == answered:
				return err
			case next == due:
				return a.hand()
			}
		case <-a.timer.C:
			if !a.narrowDown() {
				return a.hand()
			}
		case <-a.x.HTTP.Context().Done():
			if a.lasting {
				a.held.Handed() // another of its requests may have the handle
			} else {
				a.held.Discard() // stay may be asked before it has begun to
			}
			return fault.ErrClientGone
		}
	}
}

// narrowDown has nothing but a refusal be taken from now on, if there is time left for one.
func (a *attached) narrowDown() bool {
	rest := a.grace - a.after
	if a.narrow || a.opened || rest <= 0 {
		return false
	}
	a.narrow = true
	a.wakeAt(time.Now().Add(rest))
	return true
}

func (a *attached) wakeAt(until time.Time) {
	a.until = until
	a.timer.Reset(time.Until(until))
}

// leave ends what the client waits for. What goes on without it keeps nothing of it.
func (a *attached) leave() {
	if a.x != nil {
		close(a.left)
		a.x = nil
	}
}

// hand gives the client the handle in place of the answer. A client that is gone by then
// has no task, unless that does not depend on it.
func (a *attached) hand() error {
	x := a.x
	if !a.stay() {
		return fault.ErrClientGone
	}
	a.leave() // the call goes on while the client takes the handle
	err := a.held.HandOut(func() error { return a.giveHandle(x) })
	if err != nil && !a.lasting {
		a.held.Discard()
		return err
	}
	a.held.Handed()
	return err
}

func (a *attached) giveHandle(x *request) error {
	view := upgrade.View{Task: a.held.Task()}
	switch {
	case !a.lasting && x.HTTP.Context().Err() != nil:
		return fault.ErrClientGone
	case !a.opened:
		return x.handOut(view)
	}
	x.rec.Task = view.ID
	return x.out.WriteThrough(reply.Event(mcp.Response(x.ID, x.handle(view))))
}

// take gives the client what has come, if that is for it.
func (a *attached) take(o offer) (next, error) {
	switch {
	case o.judging:
		a.rest = time.Until(a.until)
		a.wakeAt(time.Now().Add(judgeTime))
		return goOn, nil
	case o.judged:
		a.wakeAt(time.Now().Add(a.rest))
		return goOn, nil
	case a.narrow && o.refuses, !a.narrow && o.response != nil && !o.withheld:
		return a.pass(o)
	case !a.narrow && o.err != nil:
		return answered, a.fail(plainly(o.err))
	case !a.narrow:
		return goOn, nil
	case o.begins:
		a.hurry()
		return goOn, nil
	case o.event != nil && o.event.Data == nil:
		return goOn, nil
	}
	return due, nil
}

// firstMessage is the part of the grace in which the first message of an event stream must
// come to be taken for a refusal: SDKs open the stream before they look at the arguments.
const firstMessage = 4

// hurry has the rest of the grace be no longer than it takes to refuse a call on a stream
// that has begun.
func (a *attached) hurry() {
	if soon := time.Now().Add(a.grace / firstMessage); soon.Before(a.until) {
		a.wakeAt(soon)
	}
}

// pass gives the client an answer, or an event of one.
func (a *attached) pass(o offer) (next, error) {
	a.x.rec.Upstream = o.u.Name
	if o.refuses {
		a.freeKey()
	}
	if o.event == nil {
		return answered, a.x.relayAnswer(o.u, o.under(a.x.ID))
	}
	if ends, err := a.takeEvent(o); ends || err != nil {
		return answered, err
	}
	return goOn, nil
}

// freeKey gives back the name of a refused call: the client may use it at once.
func (a *attached) freeKey() {
	ctx, cancel := a.x.Recording()
	defer cancel()
	a.held.FreeKey(ctx)
}

// fail returns what the client is answered with, or puts it at the end of the event stream
// that it has: a client takes one that just ends for one that goes on.
func (a *attached) fail(err error) error {
	worded := a.x.Word(err)
	if worded == fault.Internal { // what broke off has no words of its own
		err, worded = fault.StreamReset, fault.StreamReset
	}
	if !a.opened || worded == nil {
		return err
	}
	a.x.rec.Err, a.x.rec.Code = err, worded.Code
	return a.x.out.WriteThrough(reply.Event(worded.Body(a.x.ID)))
}

// plainly gives a failure that is worded as a task's the status that it has as an answer.
func plainly(err error) error {
	if worded, ok := errors.AsType[*mcp.Error](err); ok && worded.Status == 0 {
		answer := *worded
		answer.Status = wire.StatusBadGateway
		return &answer
	}
	return err
}

// isProgress reports whether a message tells of progress.
func isProgress(message []byte, says *peeked) bool {
	if says.Method != mcp.MethodProgress {
		return false
	}
	_, ok := mcp.PeekProgress(message)
	return ok
}

// takeEvent passes an event on, and reports whether it ends the answer. Progress bears the
// client's own token, or is not for it.
func (a *attached) takeEvent(o offer) (ends bool, err error) {
	raw, message := o.event.Raw, o.event.Data
	says := a.x.peek(message, false)
	ends = len(message) > 0 && says.err == nil && says.Method == ""
	if isProgress(message, says) {
		token := a.x.Single().ProgressToken
		if token == nil {
			return false, nil
		}
		raw = reply.Event(mcp.WithProgressToken(message, token))
	}
	if ends && !bytes.Equal(o.id, a.x.ID) {
		raw = reply.Event(mcp.WithID(message, a.x.ID))
	}
	if ends {
		piece := exchange.Piece{Raw: raw, Message: message, Between: true}
		instead, err := a.x.observe(o.u, piece, says, true)
		if err != nil && !a.opened {
			return true, err
		}
		if err != nil {
			instead = a.x.Word(err).Body(a.x.ID)
		}
		if instead != nil {
			raw = reply.Event(instead)
		}
	}
	if !a.opened {
		a.opened = true
		a.x.streamHeaders(o.response)
		a.x.out.WriteHeader(o.response.Status)
	}
	return ends, a.x.out.WriteThrough(raw)
}
