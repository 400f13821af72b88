package tasks

import (
	"bytes"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/reply"
)

// next is what becomes of a client that waits.
type next int

const (
	goOn     next = iota // it waits on
	answered             // it has its answer, or is gone
	due                  // it is given the task
)

// take gives the client what has come, if that is for it.
func (a *waiting) take(o offer) (next, error) {
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
func (a *waiting) hurry() {
	if soon := time.Now().Add(a.grace / firstMessage); soon.Before(a.until) {
		a.wakeAt(soon)
	}
}

// pass gives the client an answer, or an event of one.
func (a *waiting) pass(o offer) (next, error) {
	a.r.Rec.Upstream = o.u.Name
	if o.refuses {
		a.freeKey()
	}
	if o.event == nil {
		return answered, a.r.Root.Relay(o.u, o.under(a.r.ID))
	}
	if ends, err := a.takeEvent(o); ends || err != nil {
		return answered, err
	}
	return goOn, nil
}

// freeKey gives back the name of a refused call: the client may use it at once.
func (a *waiting) freeKey() {
	ctx, cancel := a.r.Recording()
	defer cancel()
	a.held.FreeKey(ctx)
}

// fail returns what the client is answered with, or puts it at the end of the event stream
// that it has: a client takes one that just ends for one that goes on.
func (a *waiting) fail(err error) error {
	worded := a.r.Word(err)
	if worded == fault.Internal { // what broke off has no words of its own
		err, worded = fault.StreamReset, fault.StreamReset
	}
	if !a.opened || worded == nil {
		return err
	}
	a.r.Rec.Err, a.r.Rec.Code = err, worded.Code
	return a.r.Out.WriteThrough(reply.Event(worded.Body(a.r.ID)))
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

// takeEvent passes an event on, and reports whether it ends the answer. Progress bears the
// client's own token, or is not for it.
func (a *waiting) takeEvent(o offer) (ends bool, err error) {
	raw, message := o.event.Raw, o.event.Data
	says, unread := mcp.PeekAnswer(message, false)
	switch ends = unread == nil && len(message) > 0 && says.Method == ""; {
	case ends:
		if raw, err = a.lastEvent(o); err != nil {
			return true, err
		}
	case isProgress(message, &says):
		token := a.r.Single().ProgressToken
		if token == nil {
			return false, nil
		}
		raw = reply.Event(mcp.WithProgressToken(message, token))
	}
	if !a.opened {
		a.opened = true
		a.r.Root.StreamHeaders(o.response)
		a.r.Out.WriteHeader(o.response.Status)
	}
	return ends, a.r.Out.WriteThrough(raw)
}

func isProgress(message []byte, says *mcp.Answer) bool {
	if says.Method != mcp.MethodProgress {
		return false
	}
	_, ok := mcp.PeekProgress(message)
	return ok
}

// lastEvent returns the response as the client is to get it, or what it gets instead. It fails
// where the client can still be answered with an error.
func (a *waiting) lastEvent(o offer) (raw []byte, err error) {
	raw = o.event.Raw
	if !bytes.Equal(o.id, a.r.ID) {
		raw = reply.Event(mcp.WithID(o.event.Data, a.r.ID))
	}
	instead, err := a.r.Root.Observe(o.u, exchange.Piece{Raw: raw, Message: o.event.Data, Between: true})
	switch {
	case err != nil && !a.opened:
		return nil, err
	case err != nil:
		instead = a.r.Word(err).Body(a.r.ID)
	}
	if instead != nil {
		raw = reply.Event(instead)
	}
	return raw, nil
}
