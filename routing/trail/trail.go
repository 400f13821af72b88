// Package trail tells what is looked at for a request that only asks what would be decided.
package trail

import (
	"context"
	"errors"

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

// Note adds a step.
func (t *Trail) Note(what, result, detail string) {
	t.Steps = append(t.Steps, Step{what, result, detail})
}

// Look looks key up in bindings, into what the caller has; for a trail, which may be nil, without a trace, and tells it. With an
// error the binding is the zero one.
func (t *Trail) Look(ctx context.Context, bindings *sticky.Bindings, key *sticky.Key, into *sticky.Binding) (source sticky.Source, err error) {
	if t == nil {
		return bindings.LookupInto(ctx, key, into)
	}
	*into, source, err = bindings.Peek(ctx, *key)
	t.looked(*key, *into, source, err, bindings.Shared())
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
		t.Note(of+"memory", "not found", "")
	case source == sticky.SourceBound:
		t.Note(of+"memory", "found", detail)
	case source == sticky.SourceLRU:
		t.Note(of+"lru", "found", detail)
	case err == nil:
		t.Note(of+"lru", "not found", "")
		t.Note(of+"store", "found", detail)
	case errors.Is(err, sticky.ErrUnknown):
		t.Note(of+"lru", "not found", "")
		t.Note(of+"store", "not found", "")
	default:
		t.Note(of+"lru", "not found", "")
		t.Note(of+"store", "unavailable", err.Error())
	}
}
