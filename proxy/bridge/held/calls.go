package held

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/relay"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
)

// Calls are the calls that have asked and have not ended, as one berth knows them.
type Calls struct {
	life      func() time.Duration // how long a client has to answer
	marks     marks
	questions rounds.Counter
	name      string // of this berth
	asked     func() // is called with each call that asks

	mu    sync.Mutex // guards calls
	calls map[string]*Call
}

// New returns the calls of a berth. life is how long a client has to answer. store, which may be nil, tells the berths which of them
// has a call; name is the berth's. asked, which must not wait, is called with each call that asks.
func New(life func() time.Duration, store relay.Store, name string, questions rounds.Counter, asked func()) *Calls {
	return &Calls{life: life, marks: marks{store, name}, questions: questions, name: name, asked: asked, calls: map[string]*Call{}}
}

// of returns a call, which make makes where this berth has none.
func (hs *Calls) of(id string, make func() *Call) *Call {
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

// Ask has the call of a state wait for its client, which is asked. h is the call whose turn the caller has; in the first round there is
// none. The call goes on in the name of who sends out, and fl is its answer, in a session.
func (hs *Calls) Ask(h *Call, st *rounds.State, out *exchange.Request, l *sessions.Session, fl *flow.Flow) {
	if h == nil {
		id := string(st.Request)
		h = hs.of(id, func() *Call { return hs.newCall(id, out, l) })
	} else {
		defer h.release()
	}
	h.endBy(out)
	if h.Flow = fl; st.Event != "" {
		l.Leave(fl)
		h.Flow = nil
	}
	h.wait(hs.life(), st.Asks)
	hs.asked()
}

func (hs *Calls) newCall(id string, out *exchange.Request, l *sessions.Session) *Call {
	return &Call{among: hs, id: id, out: legacy.OwnPost(out, nil), Session: l, turn: make(chan struct{}, 1), ended: map[string]*answer{}}
}

// Take takes on the call that a state is of, at an upstream whose sessions are in registry, in the name of who sends out. What another berth has
// asked is held here from now on, if that does not hold it itself; if it does, there is no such call here: nil.
func (hs *Calls) Take(ctx context.Context, st *rounds.State, registry *sessions.Registry, at *legacy.Upstream, out *exchange.Request) (*Call, error) {
	h, err := hs.turnOf(ctx, st, registry, at, out)
	if h == nil || err != nil {
		return nil, err
	}
	h.out = legacy.OwnPost(out, nil)
	h.endBy(out)
	h.Session.UsedBy(out)
	h.mu.Lock()
	h.stop()
	h.mu.Unlock()
	hs.marks.take(ctx, h.id, 2*hs.life(), st.By != hs.name)
	return h, nil
}

// turnOf returns the call that a state is of, whose turn its caller has then; nil: there is none here.
func (hs *Calls) turnOf(ctx context.Context, st *rounds.State, registry *sessions.Registry, at *legacy.Upstream, out *exchange.Request) (*Call, error) {
	for {
		h := hs.of(string(st.Request), func() *Call {
			if st.Event == "" {
				return nil
			}
			var keep time.Duration
			if st.By != hs.name {
				keep = Replay
			}
			l := registry.Adopt(legacy.Session{At: at, ID: st.Session, Version: st.Version, Opened: legacy.OwnPost(out, nil)}, keep, time.Duration(st.Tasks)*time.Millisecond)
			return hs.newCall(string(st.Request), out, l)
		})
		if h == nil {
			return nil, nil
		}
		select {
		case h.turn <- struct{}{}: // also for a client that is gone: a call that was made ends by its turn
		default:
			select {
			case h.turn <- struct{}{}:
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		if !h.left {
			return h, nil
		}
		h.release()
	}
}

// Has reports whether this berth knows the call with that raw id.
func (hs *Calls) Has(id string) bool {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return hs.calls[id] != nil
}

// Size is how many calls there are.
func (hs *Calls) Size() int {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	return len(hs.calls)
}

// Tied is how many of them go on at this berth or nowhere.
func (hs *Calls) Tied() (n int) {
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

// Taken leaves the call with that raw id to another berth that has taken it on; "": each that others have.
func (hs *Calls) Taken(ctx context.Context, id string) {
	var those []*Call
	hs.mu.Lock()
	if id == "" {
		those = slices.Collect(maps.Values(hs.calls))
	} else if h := hs.calls[id]; h != nil {
		those = append(those, h)
	}
	hs.mu.Unlock()
	for _, h := range those {
		h.yield(ctx)
	}
}

func (hs *Calls) forget(h *Call) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if hs.calls[h.id] == h {
		delete(hs.calls, h.id)
	}
}
