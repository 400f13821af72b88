package probe

import (
	"context"

	"berth/internal/client"
	"berth/internal/mcp"
)

// keptConnection repeats in small, on one connection, what was lost on many. Where that
// is whole, the URL's balancer balances connections: clients that keep theirs do not
// notice until it breaks.
func (r *run) keptConnection(ctx context.Context) {
	switch {
	case r.lost(checkPolls) && r.madeTasks(client.Modern):
		r.keptTasks(ctx)
	case r.lost(checkSessions):
		r.keptSession(ctx)
	}
}

func (r *run) keptTasks(ctx context.Context) {
	scopes := make([]scope, keptTasks)
	for i := range scopes {
		scopes[i] = scope{version: client.Modern, kept: true}
	}
	c := r.check(client.Modern, checkKept)
	for _, t := range r.makeTasks(ctx, scopes) {
		for range pollsPerTask {
			r.poll(ctx, c, t, t.scope)
		}
	}
}

func (r *run) keptSession(ctx context.Context) {
	_, shook := r.initialize(ctx, scope{kept: true})
	if shook == nil || shook.session == nil {
		return
	}
	c := r.check(shook.Version, checkKept)
	s := shook.session.scope
	r.book(c, r.wire.notify(ctx, s, mcp.MethodInitialized))
	for range pollsPerTask {
		r.book(c, r.wire.request(ctx, s, mcp.MethodPing, nil))
	}
}

// lost reports whether a check of that name lost something.
func (l *ledger) lost(name string) bool {
	for _, c := range l.checks {
		if c.Name == name && c.Lost > 0 {
			return true
		}
	}
	return false
}
