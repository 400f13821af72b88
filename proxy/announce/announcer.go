package announce

import (
	"log/slog"

	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/reply"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"
)

// Announcer tells the clients of one pool which calls can be tasks, and knows what its servers
// say of that. A nil one is that of a pool without rules.
type Announcer struct {
	pool    string
	rules   upgrade.Rules
	log     *slog.Logger
	support *support
}

// New returns the announcer of a pool, nil where no rule applies to that. It knows what before does,
// the one that was the pool's under other rules; nil: there was none.
func New(pool string, rules upgrade.Rules, log *slog.Logger, before *Announcer) *Announcer {
	if !rules.In(pool) {
		return nil
	}
	a := &Announcer{pool: pool, rules: rules, log: log, support: new(support)}
	if before != nil {
		a.support = before.support
	}
	return a
}

// Answer returns what becomes of an answer to the call, which was routed to at, if clients learn
// by it which calls can be tasks; nil otherwise.
func (a *Announcer) Answer(call *inbound.Call, at *routing.Decision, out *reply.Writer, response *wire.Response) *Answer {
	if a == nil || response.Status != wire.StatusOK {
		return nil
	}
	c := call.Single()
	if c == nil || c.Kind != mcp.KindRequest {
		return nil
	}
	switch c.Method {
	case mcp.MethodDiscover, mcp.MethodInitialize:
	case mcp.MethodListTools:
		if !call.HasCoreTasks(at) {
			return nil
		}
	default:
		return nil
	}
	return &Answer{announcer: a, method: c.Method, lists: call.Endpoint.Identifier != nil, out: out}
}

// Promised says whose tasks the client was promised, as sticky.Binding.Tasks has it, as far as
// anybody knows.
func (a *Announcer) Promised(at *routing.Decision) string {
	if tasks := at.Binding.Tasks; at.Key.Kind == sticky.Session && tasks != "" {
		return tasks
	}
	return a.support.promised()
}

// Serves reports whether a call asks for what the client was told of, and the upstream has no
// method for: a task that is not berth's, or that is not named, is one that does not exist.
func (a *Announcer) Serves(call *inbound.Call, at *routing.Decision) bool {
	c := call.Single()
	if a == nil || c == nil {
		return false
	}
	switch c.Method {
	case mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodCancelTask:
		return call.HasCoreTasks(at) && a.Promised(at) == sticky.TasksAdded
	}
	return false
}

// supportOf returns what a tool of a list is to say of tasks, "" for what it says itself,
// which it notes.
func (a *Announcer) supportOf(tool, says string) string {
	rule := a.rules.For(a.pool, tool)
	if rule == nil {
		return ""
	}
	a.support.learn(tool, says)
	switch {
	case saysSomething(says):
		return ""
	case rule.Required:
		return taskwire.Required
	}
	return taskwire.Optional
}

// saysSomething reports whether a tool has a word of its own in what its calls become.
// The default is none, also where it is spelt out, as the TypeScript SDK v1 does for each
// tool that was registered as a plain one.
func saysSomething(says string) bool { return says != "" && says != taskwire.Forbidden }
