package bridge

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// holds are the calls that have asked and have not ended, as one berth knows them.
type holds struct {
	life  time.Duration // how long a client has to answer
	marks marks
	name  string // of this berth

	mu    sync.Mutex // guards calls
	calls map[string]*hold
}

func newHolds(life time.Duration, m marks) *holds {
	return &holds{life: life, marks: m, name: m.name, calls: map[string]*hold{}}
}

// hold is a call that has asked. Who takes it on has its turn: two that answer the same round are
// served one after the other, the second with what the first one got.
type hold struct {
	among *holds
	id    string            // of the call in its session
	out   *exchange.Request // in whose name it goes on
	l     *loan
	turn  chan struct{} // holds one

	// What follows is of who has the turn.
	flow  *flow              // its answer, where that cannot be resumed; nil: it can
	ended map[string]*answer // by the nonce of the round whose answers brought it
	over  bool

	mu    sync.Mutex // guards the fields below
	asks  []question // that wait for the client
	until time.Time  // when the call is given up
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

// of returns the hold of a call, which make makes where this berth has none.
func (hs *holds) of(id string, make func() *hold) *hold {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.calls[id]
	if h == nil {
		if h = make(); h != nil {
			hs.calls[id] = h
		}
	}
	return h
}

// ask has the client of a reading asked. In the first round that makes the hold; the reading
// has the turn in any other.
func (hs *holds) ask(r *reading, st *state) {
	h := r.h
	if h == nil {
		h = hs.of(string(r.id), func() *hold { return hs.newHold(string(r.id), r.c.out, r.l) })
	} else {
		defer h.release()
	}
	if h.flow = r.flow; st.Event != "" {
		r.flow.leave()
		h.flow = nil
	}
	h.wait(hs.life, st.Asks)
}

func (hs *holds) newHold(id string, out *exchange.Request, l *loan) *hold {
	return &hold{among: hs, id: id, out: out, l: l, turn: make(chan struct{}, 1), ended: map[string]*answer{}}
}

// wait gives the call up unless its client comes back in time.
func (h *hold) wait(d time.Duration, asks []question) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asks, h.until = asks, time.Now().Add(d)
	h.stop()
	h.timer = time.AfterFunc(d, h.expire)
}

// leaveWaiting ends a turn in which nothing was done: the call waits for its client as before.
func (h *hold) leaveWaiting() {
	defer h.release()
	if h.over {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.timer = time.AfterFunc(time.Until(h.until), h.expire)
}

// stop stops the timer. The caller holds h.mu.
func (h *hold) stop() {
	if h.timer != nil {
		h.timer.Stop()
	}
}

// take takes on the call that a state is of. What another berth has asked is held here from now
// on, if its answer can be resumed; if not, there is no hold here: nil.
func (hs *holds) take(ctx context.Context, c *call, st *state) (*hold, error) {
	h := hs.of(string(st.Request), func() *hold {
		if st.Event == "" {
			return nil
		}
		l := &loan{f: c.f, id: st.Session, version: st.Version, opened: c.out, level: -1, users: 1, alone: true, gone: true, adopted: st.By != hs.name}
		return hs.newHold(string(st.Request), c.out, l)
	})
	if h == nil {
		return nil, nil
	}
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	h.mu.Lock()
	h.stop()
	h.mu.Unlock()
	hs.marks.take(ctx, h.id)
	return h, nil
}

// release ends the turn.
func (h *hold) release() { <-h.turn }

// outcome is what the answers to a round have come to, if that is known; nil: it is not.
func (h *hold) outcome(c *call, st *state) *wire.Response {
	switch a := h.ended[st.Nonce]; {
	case a != nil:
		return whole(a.status, mcp.WithID(a.body, c.id))
	case h.over:
		return refuse(c.id, errState)
	}
	return nil
}

// rest ends a turn whose reading is not to begin: the call waits for more answers.
func (h *hold) rest(r *reading, asks []question) {
	defer h.release()
	h.letGo(r)
	h.wait(h.among.life, asks)
}

// letGo lets go of a reading that is not read on. What cannot be resumed stays.
func (h *hold) letGo(r *reading) {
	if h.flow == nil {
		r.flow.leave()
	}
}

// reading is to read on behind the answers to a round. What the upstream asks on its session's own
// stream reaches it from now on.
func (h *hold) reading(c *call, st *state) *reading {
	r := &reading{c: c, l: h.l, id: st.Request, seen: st.Seen, flow: h.flow, h: h, nonce: st.Nonce}
	if r.flow == nil {
		r.flow = newFlow(c, h.l, st.Request)
		r.flow.event.Store(st.Event) // what is asked elsewhere, before its answer is read on, can be resumed from there
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
	h.stop()
	h.mu.Unlock()
	h.l.giveBack(false)
	time.AfterFunc(replay, func() { h.among.forget(h) })
}

// size is how many calls there are.
func (hs *holds) size() int {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return len(hs.calls)
}

func (hs *holds) forget(h *hold) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.calls[h.id] == h {
		delete(hs.calls, h.id)
	}
}

// leave is a client's departure in the middle of a later round, whose turn the caller has.
func (h *hold) leave(r *reading) {
	defer h.release()
	h.letGo(r)
	h.wait(comeBack, nil)
}

// unanswered is how long a client must have let a question wait for its call to be given up in
// favour of another that finds no place.
const unanswered = 30 * time.Second

// giveUpOldest gives up the call on a shelf whose client was asked first of those that have not
// answered, if that was a while ago.
func (hs *holds) giveUpOldest(key string) {
	hs.mu.Lock()
	var oldest *hold
	var since time.Time
	for _, h := range hs.calls {
		if h.l.shelf == nil || h.l.shelf.key != key {
			continue
		}
		h.mu.Lock()
		if waits := len(h.asks) > 0 && h.timer != nil; waits && (oldest == nil || h.until.Before(since)) {
			oldest, since = h, h.until
		}
		h.mu.Unlock()
	}
	hs.mu.Unlock()
	if oldest != nil && time.Until(since) < hs.life-unanswered {
		oldest.expire()
	}
}

// expire gives the call up, unless somebody has it, here or at another berth.
func (h *hold) expire() {
	select {
	case h.turn <- struct{}{}:
	default:
		return
	}
	ctx := context.Background()
	defer h.finish()
	if h.flow != nil {
		defer h.flow.leave()
	}
	if h.among.marks.isOthers(ctx, h.id) {
		h.l.leaveToOthers()
		return
	}
	h.mu.Lock()
	asks := h.asks
	h.mu.Unlock()
	f := h.l.f
	f.b.metrics.asked(wasAbandoned, len(asks))
	for _, q := range asks {
		_ = f.tell(ctx, h.out, h.l, cancelled(q))
	}
	_ = f.tell(ctx, h.out, h.l, mcp.Cancelled(json.RawMessage(h.id), "the client did not come back"))
}

// cancelled is the answer to what nobody will answer.
func cancelled(q question) []byte {
	if mcp.IsElicitation(q.request) {
		return mcp.Response(q.ID, []byte(`{"action":"cancel"}`))
	}
	return mcp.ErrorResponse(q.ID, errNobodyAnswers.Object())
}
