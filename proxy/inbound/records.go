package inbound

import (
	"context"
	"time"

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

// recordTime bounds what recording may hold an answer up, whatever the store does.
const recordTime = time.Second

// Recording is a context for the store that outlives the client: a client that
// hangs up once its answer was read does not undo the record.
func (x *Call) Recording() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(x.HTTP.Context()), recordTime)
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
