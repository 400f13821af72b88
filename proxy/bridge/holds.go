package bridge

import (
	"context"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
)

// holds are the calls that have asked and have not ended, as one berth knows them.
type holds struct {
	life      func() time.Duration // how long a client has to answer
	marks     marks
	questions rounds.Counter
	name      string // of this berth

	mu    sync.Mutex // guards calls
	calls map[string]*hold
}

func newHolds(life func() time.Duration, m marks, questions rounds.Counter) *holds {
	return &holds{life: life, marks: m, questions: questions, name: m.name, calls: map[string]*hold{}}
}

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
func (hs *holds) ask(r *reading, st *rounds.State) {
	h := r.h
	if h == nil {
		h = hs.of(string(r.id), func() *hold { return hs.newHold(string(r.id), r.c.who.Out, r.l) })
	} else {
		defer h.release()
	}
	if h.flow = r.flow; st.Event != "" {
		r.l.Leave(r.flow)
		h.flow = nil
	}
	h.wait(hs.life(), st.Asks)
}

func (hs *holds) newHold(id string, out *exchange.Request, l *sessions.Session) *hold {
	return &hold{among: hs, id: id, out: legacy.OwnPost(out, nil), l: l, turn: make(chan struct{}, 1), ended: map[string]*answer{}}
}

// take takes on the call that a state is of. What another berth has asked is held here from now
// on, if that does not hold it itself; if it does, there is no hold here: nil.
func (hs *holds) take(ctx context.Context, c *call, st *rounds.State) (*hold, error) {
	h := hs.of(string(st.Request), func() *hold {
		if st.Event == "" {
			return nil
		}
		var keep time.Duration
		if st.By != hs.name {
			keep = replay
		}
		l := c.f.sessions.Adopt(legacy.Session{At: c.f.u, ID: st.Session, Version: st.Version, Opened: legacy.OwnPost(c.who.Out, nil)}, keep)
		return hs.newHold(string(st.Request), c.who.Out, l)
	})
	if h == nil {
		return nil, nil
	}
	select {
	case h.turn <- struct{}{}: // also for a client that is gone: a hold that was made ends by its turn
	default:
		select {
		case h.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	h.mu.Lock()
	h.stop()
	h.mu.Unlock()
	hs.marks.take(ctx, h.id, 2*hs.life())
	return h, nil
}

// size is how many calls there are.
func (hs *holds) size() int {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return len(hs.calls)
}

// tied is how many of them go on at this berth or nowhere.
func (hs *holds) tied() (n int) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	for _, h := range hs.calls {
		h.mu.Lock()
		if h.here {
			n++
		}
		h.mu.Unlock()
	}
	return n
}

func (hs *holds) forget(h *hold) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.calls[h.id] == h {
		delete(hs.calls, h.id)
	}
}
