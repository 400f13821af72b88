package tasks

import (
	"time"

	"berth/internal/sse"
	"berth/internal/wire"
	"berth/routing"
)

// offer is what has come of the call: err, judging, judged, begins, an event, or an answer that is
// no stream. The zero one says that the call waits for its turn.
type offer struct {
	u        *routing.Upstream
	response *wire.Response
	event    *sse.Event
	id       []byte // of the request, at the upstream
	withheld bool   // it is not for the client, whatever it says
	refuses  bool   // it says that the upstream has not taken the call on
	err      error
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
		a.shorten()
		return goOn, nil
	case o.event != nil && o.event.Data == nil:
		return goOn, nil
	}
	if left := a.unheard(o.err); left != nil {
		a.freeKey()
		return answered, left
	}
	return due, nil
}

// firstMessage is the part of the grace in which the first message of an event stream must
// come to be taken for a refusal: SDKs open the stream before they look at the arguments.
const firstMessage = 4

// shorten has the rest of the grace be no longer than it takes to refuse a call on a stream
// that has begun.
func (a *waiting) shorten() {
	if soon := time.Now().Add(a.grace / firstMessage); soon.Before(a.until) {
		a.wakeAt(soon)
	}
}

// pass gives the client an answer, or an event of one.
func (a *waiting) pass(o offer) (next, error) {
	a.depend()
	a.r.Rec.WasSent(o.u, int(a.sent.Load()))
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
