package inbound

import (
	"berth/internal/mcp"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"
)

// Asker says who asks for tasks, and where.
func (x *Call) Asker() upgrade.Asker {
	return upgrade.Asker{Pool: x.PoolName(), Principal: x.Principal}
}

// SessionKey is what the records of tasks call the session of the request, "" for none.
func (x *Call) SessionKey() string {
	if x.Session == "" {
		return ""
	}
	return upgrade.SessionKey(x.PoolName(), x.Principal, x.Session)
}

// Negotiated is the protocol version that a legacy request is made in, which was routed to at:
// its session's, where that is known, or what the client claims.
func (x *Call) Negotiated(at *routing.Decision) string {
	if version := at.Binding.Version; at.Key.Kind == sticky.Session && version != "" {
		return version
	}
	return x.Version()
}

// HasCoreTasks reports whether the request, which was routed to at, is of the revision whose
// core has tasks.
func (x *Call) HasCoreTasks(at *routing.Decision) bool {
	return x.Era() == mcp.EraLegacy && x.Negotiated(at) == mcp.VersionCoreTasks
}
