package record

import (
	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/proxy/polls"
	"berth/proxy/sessiontasks"
	"berth/routing"
)

// Recorder records what the answers to one call tell.
type Recorder struct {
	*inbound.Call

	At       *routing.Decision // where the call was routed to, last
	Stale    *polls.StaleCache
	Sessions *sessiontasks.Sessions

	NewSession string // that the answer hands out
	bound      bool   // NewSession is
}

// Hint remembers who issued a requestState or a list's cursor.
func (r *Recorder) Hint(u *routing.Upstream, c *mcp.Call, a *mcp.Answer) {
	hint := routing.HintID(c.Method, a.RequestState, a.NextCursor)
	if hint == "" || len(r.Pool().Upstreams()) < 2 {
		return
	}
	ctx, cancel := r.Recording()
	defer cancel()
	router := r.Endpoint.Router
	router.Bindings.Prefer(ctx, router.HintKey(r.Principal, hint), u.Name)
}
