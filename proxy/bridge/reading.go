package bridge

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/held"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
	"berth/proxy/resident"
)

// reading is what a call reads of its answer. It is for one goroutine, but for abandon.
type reading struct {
	c    *call
	l    *sessions.Session
	id   []byte // of the call in its session
	flow *flow.Flow
	seen []string // keys of what was asked in rounds before
	over sync.Once
	asks bool // it ended with a question: flow and session are the held call's
	cut  bool // its answer has no end: the call may go on at the upstream

	last *step            // the answer's end, which waits for what was told before it on another stream; nil: none
	late <-chan time.Time // tells when it has waited long enough; nil: it does not wait yet

	unsent  bool // the call is to be sent when its client has answered
	sends   bool // it is sent in this round
	untaken bool // the upstream has not taken it: it is sent when its client comes back

	h     *held.Call // whose turn it has; nil: this is the first round
	nonce string     // of the round whose answers it is about

	event  string          // from which on another reading tells what this one has not taken; "": not known
	leaves <-chan struct{} // as exchange.Request.Leaves; nil: the call stays where it is for now
}

// step is what an answer comes to next.
type step struct {
	told      [][]byte // notifications for the client, before anything else
	status    int      // of the whole answer, which body is
	body      []byte
	impatient bool // nothing came for a while
	noMethod  bool // the upstream has answered -32601

	refusal *wire.Response // what the upstream has answered in an answer's place, but its body; nil: nothing
}

func (s *step) isNothing() bool { return len(s.told) == 0 && s.body == nil }

// next reads on. It fails when ctx ends.
func (r *reading) next(ctx context.Context, impatient <-chan time.Time) (step, error) {
	for {
		it, ok := r.first()
		if !ok {
			select {
			case <-ctx.Done():
				return step{}, context.Cause(ctx)
			case <-r.stragglers():
				return *r.last, nil
			case <-impatient:
				return step{impatient: true}, nil
			case <-r.leaves:
				if s, err := r.depart(ctx); err != nil || !s.isNothing() {
					return s, err
				}
				continue
			case heard := <-r.flow.Inbox:
				it = *heard
			case it = <-r.flow.Items:
			}
		}
		r.took(&it)
		s, err := r.take(ctx, it)
		if err != nil || !s.isNothing() {
			return s, err
		}
	}
}

// first takes what was read of the answer before.
func (r *reading) first() (it flow.Item, ok bool) {
	if r.h == nil {
		return it, false
	}
	return r.h.First()
}

// take does what an item means. The zero step is nothing to tell.
func (r *reading) take(ctx context.Context, it flow.Item) (step, error) {
	switch a := &it.Answer; {
	case it.Message == nil && r.last != nil:
		return *r.last, nil
	case it.Message == nil:
		return r.broken(it.Err), nil
	case r.last != nil && a.ID != nil && a.Method != "": // no client is asked for a call that has its answer
		r.l.AskTask(ctx, r.c.who.Out, r.c.became, a.ID, it.Message)
		return step{}, nil
	case a.Method != "" && a.ID != nil:
		return r.asked(ctx, it)
	case a.Method != "":
		return step{told: r.notice(nil, &it)}, nil
	case !a.Answers(r.id) && !a.IsNobodys():
		return step{}, nil // a stream that was resumed may bear others' as well
	case !a.IsError && !a.HasResult:
		return r.broken(errUnusable), nil
	}
	last := r.end(r.c.conclude(ctx, r.l, &it.Answer, it.Message))
	last.noMethod = it.Answer.IsError && it.Answer.ErrorCode == mcp.CodeMethodNotFound
	if r.c.who.Client.LogLevel != "" && resident.Is(r.c.f.u.URL) {
		r.last = &last
		return step{}, nil
	}
	return last, nil
}

// notice adds to what the client is told what it hears of a notification. What is of no call is heard by those who listen by the session.
func (r *reading) notice(told [][]byte, it *flow.Item) [][]byte {
	switch a := &it.Answer; a.Method {
	case mcp.MethodProgress, mcp.MethodLog:
		if message := r.c.forClient(r.id, a, it.Message); message != nil {
			told = append(told, message)
		}
	case mcp.MethodToolsChanged:
		r.c.f.tools.NoteChanged()
		fallthrough
	default:
		if !it.Aside { // else they have
			r.l.Spread(it.Message)
		}
	}
	return told
}

// straggle is how long an answer's end waits for log messages: servers of other transports tell them
// on the session's own stream.
const straggle = 10 * time.Millisecond

func (r *reading) stragglers() <-chan time.Time {
	if r.last != nil && r.late == nil {
		r.late = time.After(straggle)
	}
	return r.late
}

// end is the step that the reading ends with.
func (r *reading) end(status int, body []byte) step {
	if r.h != nil {
		r.h.Ended(r.nonce, status, body)
	}
	return step{status: status, body: body}
}

// broken is the end of an answer that has none of its own.
func (r *reading) broken(err error) step {
	if refused, ok := errors.AsType[*flow.Refused](err); ok {
		response := failed(r.c.id, refused.Response, refused.Message)
		body, _ := io.ReadAll(response.Body) // it is in memory
		s := step{status: response.Status, body: body}
		if status := refused.Status; r.sends && (wire.RefusesCredentials(status) || status == wire.StatusTooManyRequests) {
			r.untaken = true
		} else {
			s = r.end(response.Status, body)
		}
		s.refusal = response
		return s
	}
	worded, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		worded = errReset
	}
	r.cut = true
	return r.end(worded.Status, worded.Body(r.c.id))
}

// finish ends a reading whose answer is whole.
func (r *reading) finish() {
	r.over.Do(func() {
		switch {
		case r.asks:
			return
		case r.untaken:
			r.h.Sent = false
			r.h.Rest(r.flow, nil)
			return
		}
		r.l.Over(r.flow, r.c.became)
		switch {
		case r.h != nil:
			r.h.Cut = r.cut
			r.h.Finish()
		case r.cut:
			r.l.GiveBackUnended()
		default:
			r.l.GiveBack(false)
		}
	})
}

// abandon ends a reading whose client is gone, or wants no answer any more, as why says; nil: it is gone. In the first round the upstream is
// told that nobody wants the answer.
func (r *reading) abandon(why error) {
	r.over.Do(func() {
		if r.asks {
			return
		}
		if r.h != nil {
			r.h.Leave(r.flow)
			return
		}
		go r.c.cancel(r.l, r.flow, r.id, why)
	})
}

// readOn is to read on behind the answers to a round. What the upstream asks on its session's own
// stream reaches it from now on.
func (c *call) readOn(h *held.Call, st *rounds.State) *reading {
	r := &reading{c: c, l: h.Session, id: st.Request, seen: st.Seen, flow: h.Flow, h: h, nonce: st.Nonce, event: st.Event, leaves: c.came.Leaves}
	if r.flow == nil {
		r.flow = h.Session.Answer(c.who.Out, st.Request, asks(c.Method))
		r.flow.Begin(st.Event) // what is asked elsewhere, before its answer is read on, can be resumed from there
	}
	return r
}
