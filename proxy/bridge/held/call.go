package held

import (
	"slices"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
	"berth/proxy/fault"
)

// Call is a call that has asked. Who takes it on has its turn: two that answer the same round are
// served one after the other, the second with what the first one got.
type Call struct {
	among *Calls
	id    string        // of the call in its session
	turn  chan struct{} // holds one

	Session *sessions.Session // that it is made in

	// What follows is of who has the turn.
	out   *exchange.Request  // in whose name it goes on
	Flow  *flow.Flow         // its answer, where it is not known that this can be resumed; nil: it can
	Sent  bool               // the call was, that first had to be answered
	Cut   bool               // it has no answer, and may go on at the upstream
	ended map[string]*answer // by the nonce of the round whose answers brought it
	over  bool
	left  bool // to another berth, and is not among the calls any more

	mu    sync.Mutex        // guards the fields below
	ahead []flow.Item       // what has come of Flow while the client was asked, and nobody has acted on
	asks  []rounds.Question // that wait for the client
	waits bool              // for its client
	here  bool              // its answer stays: it goes on at this berth, or may do so nowhere
	until time.Time         // when the time of its client is over
	last  time.Time         // when nobody wants the call any more, whatever its client has left; zero: that says it alone
	timer *time.Timer
}

// answer is what a round has come to.
type answer struct {
	status int
	body   []byte
}

const (
	// ComeBack is how long a client may be gone in the middle of a later round: its connection may
	// have broken. In the first one a departure is final, since nobody can come back to that.
	ComeBack = 5 * time.Second

	// Replay is how long what a call has come to is kept for who asks once more.
	Replay = time.Minute
)

// wait gives the call up unless its client comes back in time.
func (h *Call) wait(d time.Duration, asks []rounds.Question) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asks, h.until, h.here = asks, time.Now().Add(d), h.Flow != nil
	if h.here {
		h.Flow.Rest()
	}
	h.stop()
	h.begin()
}

// maxAhead bounds what is read of an answer that nobody acts on, in items.
const maxAhead = 64

// Keep keeps what has come of Flow for whoever reads on. It reports whether there is room for more.
func (h *Call) Keep(it flow.Item) (more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ahead = append(h.ahead, it)
	return len(h.ahead) < maxAhead
}

// Kept is what Keep has kept that First has not taken.
func (h *Call) Kept() []flow.Item {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ahead)
}

// First takes the first of it.
func (h *Call) First() (it flow.Item, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.ahead) == 0 {
		return it, false
	}
	it, h.ahead = h.ahead[0], h.ahead[1:]
	return it, true
}

// WaitOn ends a turn in which nothing was done to a call that has asked these, until then: it waits for its client as before, or as it
// does at the berth that it is from.
func (h *Call) WaitOn(asks []rounds.Question, until time.Time) {
	h.mu.Lock()
	if h.until.IsZero() {
		if until.IsZero() { // a berth up to 0.10.1 asked
			until = time.Now().Add(h.among.life())
		}
		h.asks, h.until = asks, until
	}
	h.mu.Unlock()
	h.LeaveWaiting()
}

// LeaveWaiting ends a turn in which nothing was done: the call waits for its client as before.
func (h *Call) LeaveWaiting() {
	defer h.release()
	if h.over {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
}

// begin has the call wait for its client. The caller holds h.mu.
func (h *Call) begin() {
	if !h.waits {
		h.Session.At.Wait()
	}
	end := h.until
	if h.isBounded() {
		end = h.last
	}
	h.waits, h.timer = true, time.AfterFunc(time.Until(end), h.expire)
}

// isBounded reports whether the call ends before its client's time does. The caller holds h.mu.
func (h *Call) isBounded() bool { return !h.last.IsZero() && h.last.Before(h.until) }

// endBy notes when nobody wants the call any more, as the request tells that is made in its name.
func (h *Call) endBy(out *exchange.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !out.Until.IsZero() {
		h.last = out.Until
	}
}

// stop undoes begin. The caller holds h.mu.
func (h *Call) stop() {
	if h.waits {
		h.Session.At.WaitOver()
	}
	h.waits = false
	if h.timer != nil {
		h.timer.Stop()
	}
}

// release ends the turn.
func (h *Call) release() { <-h.turn }

// Outcome is what the answers to the round of a nonce have come to, if that is known, as the response to a request, which id names:
// raw JSON. nil: it is not.
func (h *Call) Outcome(nonce string, id []byte) *wire.Response {
	switch a := h.ended[nonce]; {
	case a != nil:
		return wire.Whole(a.status, mcp.WithID(a.body, id))
	case h.over:
		return exchange.Refusal(ErrGivenUp, id)
	}
	return nil
}

// ErrGivenUp is what a round ends with whose call is over, and nobody knows any more what came of it.
var ErrGivenUp = fault.Lost(mcp.ReasonGivenUp, "the call is over, or was given up since its client had left")

// Ended notes what the answers to the round of a nonce have come to.
func (h *Call) Ended(nonce string, status int, body []byte) { h.ended[nonce] = &answer{status, body} }

// IsOver reports whether the call has ended.
func (h *Call) IsOver() bool { return h.over }

// Rest ends a turn in which fl is not read: the call waits for more answers.
func (h *Call) Rest(fl *flow.Flow, asks []rounds.Question) {
	defer h.release()
	h.letGo(fl)
	h.wait(h.among.life(), asks)
}

// letGo lets go of a flow that is not read on, unless it stays.
func (h *Call) letGo(fl *flow.Flow) {
	if h.Flow == nil {
		h.Session.Leave(fl)
	}
}

// Finish ends the call, whose turn the caller has. What it came to is remembered for a while.
func (h *Call) Finish() {
	defer h.release()
	if h.over {
		return
	}
	h.end()
	time.AfterFunc(Replay, func() { h.among.forget(h) })
}

func (h *Call) end() {
	h.over = true
	h.mu.Lock()
	h.here = false
	h.stop()
	h.mu.Unlock()
	if h.Cut {
		h.Session.GiveBackUnended()
	} else {
		h.Session.GiveBack(false)
	}
}
