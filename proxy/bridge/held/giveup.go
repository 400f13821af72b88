package held

import (
	"context"
	"encoding/json"
	"time"

	"berth/internal/mcp"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
)

// Leave is a client's departure in the middle of a later round, whose turn the caller has, and in which fl was read.
func (h *Call) Leave(fl *flow.Flow) {
	defer h.release()
	h.letGo(fl)
	if h.Flow == nil { // what is asked meanwhile waits at the upstream, and is refused by nobody
		h.Session.StopListening()
	}
	h.wait(ComeBack, nil)
}

// Unanswered is how long a client must have let a question wait for its call to be given up in
// favour of another that finds no place.
const Unanswered = 30 * time.Second

// GiveUpOldest gives up the call in one of these sessions whose client was asked first of those that have not
// answered, if that was a while ago. It reports whether there is one.
func (hs *Calls) GiveUpOldest(on func(s *sessions.Session) bool) bool {
	hs.mu.Lock()
	var oldest *Call
	var since time.Time
	for _, h := range hs.calls {
		if !on(h.Session) {
			continue
		}
		h.mu.Lock()
		if h.waits && len(h.asks) > 0 && (oldest == nil || h.until.Before(since)) {
			oldest, since = h, h.until
		}
		h.mu.Unlock()
	}
	hs.mu.Unlock()
	if oldest == nil || time.Until(since) >= hs.life()-Unanswered {
		return false
	}
	oldest.expire()
	return true
}

// expire gives the call up, unless somebody has it, here or at another berth.
func (h *Call) expire() {
	select {
	case h.turn <- struct{}{}:
	default:
		h.expireSoon()
		return
	}
	ctx := context.Background()
	if h.leave(ctx) {
		return
	}
	defer h.Finish()
	if h.Flow != nil {
		defer h.Session.Leave(h.Flow)
	}
	h.mu.Lock()
	asks, why := h.asks, "the client did not come back"
	if h.isBounded() && !time.Now().Before(h.last) {
		why = "its task has expired"
	}
	h.mu.Unlock()
	h.abandon(ctx, asks, why)
}

// yield leaves the call to another berth, if that has it and nobody here does.
func (h *Call) yield(ctx context.Context) {
	select {
	case h.turn <- struct{}{}:
		if !h.leave(ctx) {
			h.release()
		}
	default:
	}
}

// leave leaves a call, whose turn the caller has, to another berth, if that has it: then the turn has ended. Nothing of it is kept, for its
// client may come back here with what it is asked there.
func (h *Call) leave(ctx context.Context) bool {
	if h.over || !h.among.marks.isOthers(ctx, h.id) {
		return false
	}
	if h.Flow != nil {
		h.Session.Leave(h.Flow)
	}
	h.Session.LeaveToOthers()
	h.end()
	h.left = true
	h.among.forget(h)
	h.release()
	return true
}

// expireSoon has a call expire that waits for its client, though somebody has its turn: who has begun that wait is about to leave, and who
// has just come stops it.
func (h *Call) expireSoon() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.waits {
		h.timer.Reset(time.Millisecond)
	}
}

// abandon tells the upstream that nobody will answer, and why nobody wants the call any more.
func (h *Call) abandon(ctx context.Context, asks []rounds.Question, why string) {
	h.Cut = true
	h.among.questions.Add(rounds.WasAbandoned, len(asks))
	for _, q := range asks {
		_ = h.Session.Tell(ctx, h.out, rounds.Cancelled(q))
	}
	_ = h.Session.Tell(ctx, h.out, mcp.Cancelled(json.RawMessage(h.id), why))
}

// GiveUp ends the call, which nobody wants any more, as why tells the upstream. asked is what its client has been asked, if it was by another berth.
func (h *Call) GiveUp(ctx context.Context, asked []rounds.Question, why string) {
	defer h.Finish()
	if h.Flow != nil {
		defer h.Session.Leave(h.Flow)
	}
	h.mu.Lock()
	asks := h.asks
	if h.until.IsZero() { // another berth has asked
		asks = asked
	}
	h.mu.Unlock()
	h.abandon(ctx, asks, why)
}
