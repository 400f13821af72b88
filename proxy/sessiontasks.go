package proxy

import (
	"berth/internal/mcp"
	"berth/sticky"
)

// mayHoldCalls reports whether calls may be held in the session of the request: it is one
// of a version with tasks, as far as berth knows, in a pool that rules apply to. The
// request must be routed.
func (x *request) mayHoldCalls() bool {
	binding := x.decision.Binding
	if x.decision.Key.Kind != sticky.Session || binding.Version != "" && binding.Version != mcp.VersionCoreTasks {
		return false
	}
	return x.isInRuledSession()
}

// isInRuledSession reports whether the request is in a session of a pool that rules apply
// to. One that begins a session is in none, whatever it bears.
func (x *request) isInRuledSession() bool {
	if c := x.Single(); c != nil && c.Method == mcp.MethodInitialize {
		return false
	}
	return x.Session != "" && x.p.options.Tasks != nil && x.p.options.Rules.In(x.PoolName())
}
