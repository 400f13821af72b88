package tasks

import (
	"context"
	"sync/atomic"
	"time"

	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/reply"
	"berth/upgrade"
)

// waiting is the client of a call that may become a task: until its patience is over it
// waits for the answer itself, or for a refusal. The held call's goroutine offers it what
// comes; the request's takes that, or has left.
type waiting struct {
	patience
	r        *Request // the request's goroutine's alone; nil once it has left
	endpoint *inbound.Endpoint
	held     *upgrade.Held
	offers   chan offer
	left     chan struct{}                 // closed when the client does not wait for the answer any more
	sent     atomic.Int32                  // how often the call was
	response atomic.Pointer[wire.Response] // the event stream's; nil once the client has left
	stay     func() bool                   // keeps the call from ending with its client; false: it has ended; nil: see depend

	narrow bool // nothing but a refusal is taken any more
	until  time.Time
	timer  *time.Timer   // of until
	rest   time.Duration // of the time until then, while a refusal is judged
	opened bool          // an event stream to the client has begun
}

// awaitAnswer starts the call and gives its client the answer while p lasts, and then the
// handle.
func (r *Request) awaitAnswer(held *upgrade.Held, p patience) error {
	a := &waiting{
		patience: p, r: r, endpoint: r.Endpoint, held: held, offers: make(chan offer), left: make(chan struct{}), narrow: p.after == 0,
	}
	defer a.leave()
	a.until = time.Now().Add(p.after)
	if a.narrow {
		a.until = time.Now().Add(p.grace)
	}
	a.timer = time.NewTimer(time.Until(a.until))
	defer a.timer.Stop()
	held.Start(a)
	return a.wait()
}

// depend has the call end with its client while that is given an answer: it is read under the held call's context, not the
// request's. Who waits sees its client go.
func (a *waiting) depend() {
	if !a.lasting && a.stay == nil {
		a.stay = context.AfterFunc(a.r.HTTP.Context(), a.held.Discard)
	}
}

// stays keeps the call from ending with its client from now on; false: it has ended.
func (a *waiting) stays() bool {
	switch {
	case a.lasting:
		return true
	case a.stay != nil:
		return a.stay()
	case a.r.HTTP.Context().Err() != nil:
		a.held.Discard()
		return false
	}
	return true
}

func (a *waiting) wait() error {
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
		case <-a.r.HTTP.Context().Done():
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
func (a *waiting) narrowDown() bool {
	rest := a.grace - a.after
	if a.narrow || a.opened || rest <= 0 {
		return false
	}
	a.narrow = true
	a.wakeAt(time.Now().Add(rest))
	return true
}

func (a *waiting) wakeAt(until time.Time) {
	a.until = until
	a.timer.Reset(time.Until(until))
}

// leave ends what the client waits for. What goes on without it keeps nothing of it, for as long as the call may take.
func (a *waiting) leave() {
	if a.r != nil {
		if a.stay != nil {
			a.stay()
		}
		close(a.left)
		a.r, a.timer, a.stay = nil, nil, nil
		a.response.Store(nil)
	}
}

// hand gives the client the handle in place of the answer. A client that is gone by then
// has no task, unless that does not depend on it.
func (a *waiting) hand() error {
	r := a.r
	if !a.stays() {
		return fault.ErrClientGone
	}
	a.leave() // the call goes on while the client takes the handle
	err := a.held.HandOut(func() error { return a.giveHandle(r) })
	if err != nil && !a.lasting {
		a.held.Discard()
		return err
	}
	a.held.Handed()
	return err
}

func (a *waiting) giveHandle(r *Request) error {
	view := &upgrade.View{Task: a.held.Task()}
	switch {
	case !a.lasting && r.HTTP.Context().Err() != nil:
		return fault.ErrClientGone
	case !a.opened:
		return r.handOut(view)
	}
	r.Rec.Task = view.ID
	r.Rec.Does(audit.Made, view.ID)
	return r.Out.WriteThrough(reply.Event(r.handle(view)))
}
