package bridge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/resident"
)

// question is a request of a server's in mid-call, as the next round must know it.
type question struct {
	Key string          `json:"k"` // as the client is shown it
	ID  json.RawMessage `json:"i"` // of JSON-RPC, the server's

	request []byte // the whole of it
}

// together is how long more is waited for that is asked at the same time.
const together = 25 * time.Millisecond

// asked opens a round with what the upstream asks, or answers in the client's place what needs no
// client, or what that has not declared to answer.
func (r *reading) asked(ctx context.Context, it item) (step, error) {
	first, ok := r.open(ctx, it)
	if !ok {
		return step{}, nil
	}
	round, event := []question{first}, it.event
	if r.h != nil {
		ctx = context.WithoutCancel(ctx) // who comes back to this round is asked what was read here
	}
	var told [][]byte // meanwhile
	timer := time.NewTimer(together)
	defer timer.Stop()
	for {
		var it item
		select {
		case <-ctx.Done():
			return step{}, context.Cause(ctx)
		case <-timer.C:
			return r.pause(ctx, round, told, event)
		case heard := <-r.flow.inbox:
			it = *heard
		case it = <-r.flow.items:
		}
		if it.message == nil {
			return r.take(ctx, item{err: it.err})
		}
		switch a := &it.answer; {
		case a.Method == "":
			if s, err := r.take(ctx, it); err != nil || s.body != nil || r.last != nil {
				s.told = told
				r.withdraw(ctx, round) // it ended without an answer to what it asked
				return s, err
			}
		case a.ID != nil:
			if next, ok := r.open(ctx, it); ok {
				round = append(round, next)
			}
		case a.Method == mcp.MethodCancelled:
			round = r.c.f.b.withdrawn(round, mcp.CancelledID(it.message))
		default:
			if message := r.c.told(r.id, a, it.message); message != nil {
				told = append(told, message)
			}
		}
		event = it.event
		switch len(round) {
		case 0:
			return step{told: told}, nil
		case mcp.MaxInputs:
			return r.pause(ctx, round, told, event)
		}
	}
}

// withdrawn is a round without what the upstream wants no answer to any more.
func (b *Bridge) withdrawn(round []question, id []byte) []question {
	left := slices.DeleteFunc(round, func(q question) bool { return mcp.IDKey(q.ID) == mcp.IDKey(id) })
	b.metrics.asked(wasWithdrawn, len(round)-len(left))
	return left
}

// withdraw answers what nobody will.
func (r *reading) withdraw(ctx context.Context, round []question) {
	for _, q := range round {
		_ = r.c.f.tell(ctx, r.c.out, r.l, cancelled(q))
	}
}

// open judges what the upstream asks. ok says that the client is to be asked it.
func (r *reading) open(ctx context.Context, it item) (q question, ok bool) {
	a, request := &it.answer, it.message
	id := bytes.Clone(a.ID)
	key := mcp.IDKey(id)
	if slices.Contains(r.seen, key) {
		return question{}, false // a stream that was resumed bears it once more
	}
	var answer []byte
	switch lacks := r.c.client.Declares().Lacks(request); {
	case a.Method == mcp.MethodPing:
		answer = mcp.Response(id, []byte("{}"))
	case !mcp.AsksClient(request):
		answer = mcp.ErrorResponse(id, errNoMethod.Object())
	case !mcp.IsClear(request):
		answer = mcp.ErrorResponse(id, errUnclear.Object())
	case lacks != nil:
		r.c.f.b.metrics.asked(wasUndeclared, 1)
		if !(it.aside || resident.Is(r.c.f.u.URL)) || !r.l.isGreeting(a.Method) {
			r.c.lack(lacks)
		}
		answer = mcp.ErrorResponse(id, r.c.client.Declares().Refusal(request).Object())
	case !asks(r.c.Method), a.Method == mcp.MethodListRoots && r.c.f.b.options().Isolation == ForAll: // these would be others' as well
		answer = mcp.ErrorResponse(id, errNobodyAsked.Object())
	default:
		r.seen = append(r.seen, key)
		return question{Key: keyOf(id), ID: id, request: request}, true
	}
	if err := r.c.f.tell(ctx, r.c.out, r.l, answer); err != nil {
		r.c.f.log.Debug("an upstream could not be answered", "upstream", r.c.f.u.Name, "error", err)
	}
	return question{}, false
}

// lack notes what the client would have had to declare.
func (c *call) lack(capabilities map[string]any) {
	if c.lacks == nil {
		c.lacks = map[string]any{}
	}
	maps.Copy(c.lacks, capabilities)
}

// pause ends the request with what the client is asked. The call goes on at the upstream, which
// waits: from event on, for whoever gets the next round, or held here where it is not known that its
// stream can be resumed.
func (r *reading) pause(ctx context.Context, round []question, told [][]byte, event string) (step, error) {
	if resident.Is(r.c.f.u.URL) {
		event = "" // the session lives here, and so does whoever resumes
	}
	st := state{
		Upstream: r.c.f.u.Name, Session: r.l.id, Version: r.l.version, Request: r.id, Event: event,
		Asks: round, Seen: r.seen, Call: r.c.question(false), Means: r.c.question(true), Nonce: rand.Text(), By: r.c.f.b.name, Unsent: r.unsent,
	}
	switch {
	case event == "":
	case r.flow.isReplayed(ctx):
		st.Heard = r.l.stopListening() // whoever goes on hears the session's own stream as well
	default:
		st.Event, st.Else, st.Heard = "", event, r.l.lastHeard()
	}
	body, err := r.c.asking(ctx, &st)
	if err != nil {
		return step{}, err
	}
	r.c.f.b.metrics.asked(wasAsked, len(round))
	s := r.end(wire.StatusOK, body)
	s.told = told
	r.asks = true
	r.c.f.holds.ask(r, &st)
	return s, nil
}

// asking is the response that asks for what is open of a round.
func (c *call) asking(ctx context.Context, st *state) ([]byte, error) {
	token, err := c.sealed(ctx, st)
	if err != nil {
		return nil, err
	}
	var inputs []mcp.Input
	for _, q := range st.Asks {
		inputs = append(inputs, mcp.Input{Key: q.Key, Value: mcp.InputRequest(q.request)})
	}
	return mcp.Response(c.id, mcp.AskFor(inputs, token)), nil
}
