package routing

import (
	"context"

	"berth/internal/mcp"
	"berth/sticky"
)

// preferred returns the upstream that issued the call's requestState or cursor.
func (r *Router) preferred(ctx context.Context, q *Query) string {
	c := &q.Calls[0]
	hint := HintID(c.Method, c.RequestState, c.Cursor)
	if hint == "" {
		return ""
	}
	key := r.key(sticky.Hint, q.Principal, hint)
	var binding sticky.Binding
	_, _ = r.binding(ctx, q.Trail, &key, &binding) // none is nobody's
	return binding.Upstream
}

// HintID names a requestState or, failing that, a list's cursor; "" if there is
// neither. A list of tasks needs no hint: its session has an owner, and without one
// its cursor says where it goes on.
func HintID(method, requestState, cursor string) string {
	switch {
	case requestState != "":
		return "state\x00" + requestState
	case cursor != "" && method != mcp.MethodListTasks:
		return method + "\x00" + cursor
	}
	return ""
}

// HintKey returns the key of a cursor or requestState of this pool.
func (r *Router) HintKey(principal, hint string) sticky.Key {
	return r.key(sticky.Hint, principal, hint)
}
