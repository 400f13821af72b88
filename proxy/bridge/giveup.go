package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
)

// leave is a client's departure in the middle of a later round, whose turn the caller has.
func (h *hold) leave(r *reading) {
	defer h.release()
	h.letGo(r)
	if h.flow == nil { // what is asked meanwhile waits at the upstream, and is refused by nobody
		h.l.StopListening()
	}
	h.wait(comeBack, nil)
}

// unanswered is how long a client must have let a question wait for its call to be given up in
// favour of another that finds no place.
const unanswered = 30 * time.Second

// giveUpOldest gives up the call in one of these sessions whose client was asked first of those that have not
// answered, if that was a while ago. It reports whether there is one.
func (hs *holds) giveUpOldest(on func(s *sessions.Session) bool) bool {
	hs.mu.Lock()
	var oldest *hold
	var since time.Time
	for _, h := range hs.calls {
		if !on(h.l) {
			continue
		}
		h.mu.Lock()
		if h.waits && len(h.asks) > 0 && (oldest == nil || h.until.Before(since)) {
			oldest, since = h, h.until
		}
		h.mu.Unlock()
	}
	hs.mu.Unlock()
	if oldest == nil || time.Until(since) >= hs.life()-unanswered {
		return false
	}
	oldest.expire()
	return true
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
		defer h.l.Leave(h.flow)
	}
	if h.among.marks.isOthers(ctx, h.id) {
		h.l.LeaveToOthers()
		return
	}
	h.mu.Lock()
	asks := h.asks
	h.mu.Unlock()
	h.abandon(ctx, asks, "the client did not come back")
}

// abandon tells the upstream that nobody will answer, and why nobody wants the call any more.
func (h *hold) abandon(ctx context.Context, asks []rounds.Question, why string) {
	h.among.questions.Add(rounds.WasAbandoned, len(asks))
	for _, q := range asks {
		_ = h.l.Tell(ctx, h.out, rounds.Cancelled(q))
	}
	_ = h.l.Tell(ctx, h.out, mcp.Cancelled(json.RawMessage(h.id), why))
}

// giveUp ends the call that has asked with the state which the notification bears: nobody is going to answer.
func (c *call) giveUp(ctx context.Context) (*wire.Response, error) {
	accepted := wire.Whole(wire.StatusAccepted, nil)
	c.who.Caller = callerOf(c.who.Out)
	st, err := rounds.Open(ctx, c.f.b.options().Keys, c.about(), c.RequestState)
	if err != nil {
		return nil, err
	}
	if st.First { // nothing waits
		return accepted, nil
	}
	h, elsewhere, err := c.takeOn(ctx, st)
	switch {
	case errors.Is(err, rounds.ErrState), errors.Is(err, errHolderLost):
		return accepted, nil // upstream or holder are gone, and the call with them
	case h == nil:
		return elsewhere, err
	case h.over:
		h.leaveWaiting()
		return accepted, nil
	}
	defer h.finish()
	if h.flow != nil {
		defer h.l.Leave(h.flow)
	}
	h.mu.Lock()
	asks := h.asks
	if h.until.IsZero() { // another berth has asked
		asks = st.Asks
	}
	h.mu.Unlock()
	h.abandon(ctx, asks, "the client has cancelled it")
	return accepted, nil
}
