package tasks

import (
	"context"
	"time"

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

// waiting is the client of a call that may become a task: until its patience is over it
// waits for the answer itself, or for a refusal. The held call's goroutine offers it what
// comes; the request's takes that, or has left.
type waiting struct {
	patience
	r        *Request // the request's goroutine's alone; nil once it has left
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

// attend starts the call and gives its client the answer while p lasts, and then the
// handle.
func (r *Request) attend(held *upgrade.Held, p patience) error {
	a := &waiting{
		patience: p, r: r, endpoint: r.Endpoint, held: held, offers: make(chan offer), left: make(chan struct{}),
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
		a.stay = context.AfterFunc(r.HTTP.Context(), held.Discard)
		defer a.stay()
	}
	held.Start(a)
	return a.wait()
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

// leave ends what the client waits for. What goes on without it keeps nothing of it.
func (a *waiting) leave() {
	if a.r != nil {
		close(a.left)
		a.r = nil
	}
}

// hand gives the client the handle in place of the answer. A client that is gone by then
// has no task, unless that does not depend on it.
func (a *waiting) hand() error {
	r := a.r
	if !a.stay() {
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
	view := upgrade.View{Task: a.held.Task()}
	switch {
	case !a.lasting && r.HTTP.Context().Err() != nil:
		return fault.ErrClientGone
	case !a.opened:
		return r.handOut(view)
	}
	r.Rec.Task = view.ID
	return r.Out.WriteThrough(reply.Event(mcp.Response(r.ID, r.handle(view))))
}
