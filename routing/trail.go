package routing

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/sticky"
)

// Trail is told what a router looks at for a Query that only asks: nothing is written, counted or kept in the
// cache, no upstream is asked, and the pool is not changed. It is for one goroutine.
type Trail struct {
	Steps []Step
	Keys  []sticky.Key // that were looked up, in that order
}

// Step is one thing that a router has looked at.
type Step struct {
	What   string // "lru", "memory", "store", "discovery" or "fleet", with the kind of key before it where that is no task or session
	Result string // "found", "not found", "unavailable", "would be asked", "has denied it"
	Detail string
}

// ErrWouldAsk says that the fleet would be asked for what the map does not know. It comes with what it would mean that all deny it.
var ErrWouldAsk = errors.New("routing: the fleet would be asked")

func (t *Trail) note(what, result, detail string) {
	t.Steps = append(t.Steps, Step{what, result, detail})
}

// binding looks key up; for a trail without a trace, and tells it. With an error the binding is the zero one.
func (r *Router) binding(ctx context.Context, t *Trail, key *sticky.Key, into *sticky.Binding) (source sticky.Source, err error) {
	if t == nil {
		return r.Bindings.LookupInto(ctx, key, into)
	}
	*into, source, err = r.Bindings.Peek(ctx, *key)
	t.looked(*key, *into, source, err, r.Bindings.Shared())
	return source, err
}

// looked tells of a look-up: the places that it went to, the last of which decided.
func (t *Trail) looked(key sticky.Key, binding sticky.Binding, source sticky.Source, err error, shared bool) {
	t.Keys = append(t.Keys, key)
	of := ""
	if key.Kind != sticky.Task && key.Kind != sticky.Session {
		of = string(key.Kind) + " in the "
	}
	detail := "owner " + binding.Upstream
	if key.Kind == sticky.Claim {
		detail = "it is somebody's"
	}
	switch {
	case !shared && errors.Is(err, sticky.ErrUnknown):
		t.note(of+"memory", "not found", "")
	case source == sticky.SourceBound:
		t.note(of+"memory", "found", detail)
	case source == sticky.SourceLRU:
		t.note(of+"lru", "found", detail)
	case err == nil:
		t.note(of+"lru", "not found", "")
		t.note(of+"store", "found", detail)
	case errors.Is(err, sticky.ErrUnknown):
		t.note(of+"lru", "not found", "")
		t.note(of+"store", "not found", "")
	default:
		t.note(of+"lru", "not found", "")
		t.note(of+"store", "unavailable", err.Error())
	}
}

// owner is Pool.Owner; for a trail without looking for upstreams that may have joined.
func (r *Router) owner(ctx context.Context, t *Trail, name string) *Upstream {
	if t == nil {
		return r.Pool.Owner(ctx, name)
	}
	u := r.Pool.Find(name)
	switch {
	case u != nil:
	case r.Pool.seek != nil:
		t.note("discovery", "would be asked", "upstream "+name+" is not in the pool")
	default:
		t.note("pool", "not found", "upstream "+name+" is not in the pool any more")
	}
	return u
}

// wouldAsk says what comes of asking the fleet, as far as that is known: nobody is asked.
func (r *Router) wouldAsk(q *Query, key sticky.Key, call *mcp.Call, missing error, foreign bool) error {
	switch {
	case foreign:
		q.Trail.note("claim", "found", "the id is another principal's: whatever the fleet says, it is told as unknown")
		return denied(key.Kind, missing)
	case r.Asker.hasDenied(q.question(key, call).Key):
		q.Trail.note("fleet", "has denied it", "a moment ago: it is not asked again yet")
		return denied(key.Kind, missing)
	}
	q.Trail.note("fleet", "would be asked", "each upstream of the pool, whether it knows the id")
	return errors.Join(ErrWouldAsk, denied(key.Kind, missing))
}
