package bridge

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/rounds"
	"berth/proxy/bridge/sessions"
	"berth/proxy/resident"
)

// asked opens a round with what the upstream asks, or answers in the client's place what needs no
// client, or what that has not declared to answer.
func (r *reading) asked(ctx context.Context, it flow.Item) (step, error) {
	first, ok := r.open(ctx, it)
	if !ok {
		return step{}, nil
	}
	round, event := []rounds.Question{first}, it.Event
	if r.h != nil {
		ctx = context.WithoutCancel(ctx) // who comes back to this round is asked what was read here
	}
	var told [][]byte // meanwhile
	timer := time.NewTimer(rounds.Together)
	defer timer.Stop()
	for {
		it, ok := r.first()
		if !ok {
			select {
			case <-ctx.Done():
				return step{}, context.Cause(ctx)
			case <-timer.C:
				return r.pause(ctx, round, told, event)
			case heard := <-r.flow.Inbox:
				it = *heard
			case it = <-r.flow.Items:
			}
		}
		if it.Message == nil {
			s, err := r.take(ctx, flow.Item{Err: it.Err})
			s.told = told
			go r.leave(context.WithoutCancel(ctx), round) // its client cannot be asked any more, and waits for nothing
			return s, err
		}
		switch a := &it.Answer; {
		case a.Method == "":
			if s, err := r.take(ctx, it); err != nil || s.body != nil || r.last != nil {
				s.told = told
				r.leave(ctx, round) // it ended without an answer to what it asked
				return s, err
			}
		case a.ID != nil:
			if next, ok := r.open(ctx, it); ok {
				round = append(round, next)
			}
		case a.Method == mcp.MethodCancelled:
			round = r.c.f.b.metrics.questions.Withdrawn(round, mcp.CancelledID(it.Message))
		default:
			told = r.notice(told, &it)
		}
		r.took(&it)
		event = it.Event
		switch len(round) {
		case 0:
			return step{told: told}, nil
		case inquiry.MaxInputs:
			return r.pause(ctx, round, told, event)
		}
	}
}

// leave leaves what the client was not asked to the task that the call has become, or refuses it.
func (r *reading) leave(ctx context.Context, round []rounds.Question) {
	for _, q := range round {
		r.l.AskTask(ctx, r.c.who.Out, r.c.became, q.ID, q.Request)
	}
}

// open judges what the upstream asks. ok says that the client is to be asked it.
func (r *reading) open(ctx context.Context, it flow.Item) (q rounds.Question, ok bool) {
	a, request := &it.Answer, it.Message
	id := bytes.Clone(a.ID)
	key := mcp.IDKey(id)
	if slices.Contains(r.seen, key) {
		return rounds.Question{}, false // a stream that was resumed bears it once more
	}
	var answer []byte
	switch lacks, refusal := r.c.who.Client.Declares().Lacks(request), inquiry.Unaskable(request); {
	case a.Method == mcp.MethodPing:
		answer = mcp.Response(id, []byte("{}"))
	case refusal != nil:
		answer = mcp.ErrorResponse(id, refusal.Object())
	case lacks != nil:
		r.c.f.b.metrics.questions.Add(rounds.WasUndeclared, 1)
		if !(it.Aside || resident.Is(r.c.f.u.URL)) || !r.l.IsEarly(a.Method) {
			r.c.lacks = inquiry.Join(r.c.lacks, lacks)
		}
		answer = mcp.ErrorResponse(id, r.c.who.Client.Declares().Refusal(request).Object())
	case !asks(r.c.Method), a.Method == inquiry.MethodListRoots && r.c.f.b.options().Isolation == sessions.ForAll: // these would be others' as well
		answer = mcp.ErrorResponse(id, rounds.ErrNobodyAsked.Object())
	default:
		r.seen = append(r.seen, key)
		return rounds.Question{Key: rounds.KeyOf(id), ID: id, Request: request}, true
	}
	if err := r.l.Tell(ctx, r.c.who.Out, answer); err != nil {
		r.c.f.u.Log.Debug("an upstream could not be answered", "upstream", r.c.f.u.Name, "error", err)
	}
	return rounds.Question{}, false
}

// pause ends the request with what the client is asked. The call goes on at the upstream, which
// waits: from event on, for whoever gets the next round, or held here where it is not known that its
// stream can be resumed.
func (r *reading) pause(ctx context.Context, round []rounds.Question, told [][]byte, event string) (step, error) {
	event = cmp.Or(event, r.flow.Opening()) // the question may have come on the session's own stream before the call's had begun
	if resident.Is(r.c.f.u.URL) {
		event = "" // the session lives here, and so does whoever resumes
	}
	st := rounds.State{
		Upstream: r.c.f.u.Name, Session: r.l.ID, Version: r.l.Version, Request: r.id, Event: event,
		Call: rounds.Digest(r.c.who.Out.Body, false), Means: rounds.Digest(r.c.who.Out.Body, true),
		Nonce: rand.Text(), By: r.c.f.b.name, Unsent: r.unsent, Tasked: r.c.tasked,
		Tasks: r.l.TasksLive().Milliseconds(),
	}
	switch {
	case event == "":
	case r.flow.IsReplayed(ctx):
		st.Heard = r.l.StopListening() // whoever goes on hears the session's own stream as well
		round = r.heard(ctx, round)
	default:
		st.Event, st.Else, st.Heard = "", event, r.l.LastHeard()
	}
	st.Asks, st.Seen = round, r.seen
	body, err := r.c.asking(ctx, &st)
	if err != nil {
		return step{}, err
	}
	r.c.f.b.metrics.questions.Add(rounds.WasAsked, len(round))
	s := r.end(wire.StatusOK, body)
	s.told = told
	r.asks = true
	r.c.f.calls.Ask(r.h, &st, r.c.who.Out, r.l, r.flow)
	return s, nil
}

// heard adds to a round what has come on the session's own stream, which is read no further here.
func (r *reading) heard(ctx context.Context, round []rounds.Question) []rounds.Question {
	for _, it := range r.flow.TakeInbox() {
		switch a := &it.Answer; {
		case a.Method == mcp.MethodCancelled:
			round = r.c.f.b.metrics.questions.Withdrawn(round, mcp.CancelledID(it.Message))
		case a.ID != nil:
			if q, ok := r.open(ctx, it); ok {
				round = append(round, q)
			}
		}
	}
	return round
}

// asking is the response that asks for what is open of a round.
func (c *call) asking(ctx context.Context, st *rounds.State) ([]byte, error) {
	st.Lacks = c.lacks
	life := c.f.b.options().Question
	token, err := st.Seal(ctx, c.f.b.options().Keys, c.about()[0], c.f.b.clock.now(ctx).Add(life), life)
	if err != nil {
		return nil, err
	}
	return mcp.Response(c.id, inquiry.Result(rounds.Inputs(st.Asks), token)), nil
}
