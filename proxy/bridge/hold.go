package bridge

import (
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
)

// hold is a call that has asked. Who takes it on has its turn: two that answer the same round are
// served one after the other, the second with what the first one got.
type hold struct {
	among *holds
	id    string            // of the call in its session
	out   *exchange.Request // in whose name it goes on
	l     *sessions.Session
	turn  chan struct{} // holds one

	// What follows is of who has the turn.
	flow  *flow.Flow         // its answer, where it is not known that this can be resumed; nil: it can
	ended map[string]*answer // by the nonce of the round whose answers brought it
	over  bool
	sent  bool // the call was, that first had to be answered

	mu    sync.Mutex        // guards the fields below
	asks  []rounds.Question // that wait for the client
	waits bool              // for its client
	here  bool              // its answer stays: it goes on at this berth, or may do so nowhere
	until time.Time         // when the call is given up
	timer *time.Timer
}

// answer is what a round has come to.
type answer struct {
	status int
	body   []byte
}

const (
	// comeBack is how long a client may be gone in the middle of a later round: its connection may
	// have broken. In the first one a departure is final, since nobody can come back to that.
	comeBack = 5 * time.Second

	// replay is how long what a call has come to is kept for who asks once more.
	replay = time.Minute
)

// wait gives the call up unless its client comes back in time.
func (h *hold) wait(d time.Duration, asks []rounds.Question) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asks, h.until, h.here = asks, time.Now().Add(d), h.flow != nil
	if h.here {
		h.flow.Rest()
	}
	h.stop()
	h.begin(d)
}

// leaveWaiting ends a turn in which nothing was done: the call waits for its client as before.
func (h *hold) leaveWaiting() {
	defer h.release()
	if h.over {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin(time.Until(h.until))
}

// begin has the call wait for its client. The caller holds h.mu.
func (h *hold) begin(d time.Duration) {
	if !h.waits {
		h.l.At.Wait()
	}
	h.waits, h.timer = true, time.AfterFunc(d, h.expire)
}

// stop undoes begin. The caller holds h.mu.
func (h *hold) stop() {
	if h.waits {
		h.l.At.WaitOver()
	}
	h.waits = false
	if h.timer != nil {
		h.timer.Stop()
	}
}

// release ends the turn.
func (h *hold) release() { <-h.turn }

// outcome is what the answers to a round have come to, if that is known; nil: it is not.
func (h *hold) outcome(c *call, st *rounds.State) *wire.Response {
	switch a := h.ended[st.Nonce]; {
	case a != nil:
		return wire.Whole(a.status, mcp.WithID(a.body, c.id))
	case h.over:
		return exchange.Refusal(errGivenUp, c.id)
	}
	return nil
}

// rest ends a turn whose reading is not to begin: the call waits for more answers.
func (h *hold) rest(r *reading, asks []rounds.Question) {
	defer h.release()
	h.letGo(r)
	h.wait(h.among.life(), asks)
}

// letGo lets go of a reading that is not read on, unless its answer stays.
func (h *hold) letGo(r *reading) {
	if h.flow == nil {
		r.l.Leave(r.flow)
	}
}

// reading is to read on behind the answers to a round. What the upstream asks on its session's own
// stream reaches it from now on.
func (h *hold) reading(c *call, st *rounds.State) *reading {
	r := &reading{c: c, l: h.l, id: st.Request, seen: st.Seen, flow: h.flow, h: h, nonce: st.Nonce}
	if r.flow == nil {
		r.flow = h.l.Answer(c.who.Out, st.Request, asks(c.Method))
		r.flow.Begin(st.Event) // what is asked elsewhere, before its answer is read on, can be resumed from there
	}
	return r
}

// finish ends the call, whose turn the caller has. What it came to is remembered for a while.
func (h *hold) finish() {
	defer h.release()
	if h.over {
		return
	}
	h.over = true
	h.mu.Lock()
	h.here = false
	h.stop()
	h.mu.Unlock()
	h.l.GiveBack(false)
	time.AfterFunc(replay, func() { h.among.forget(h) })
}
