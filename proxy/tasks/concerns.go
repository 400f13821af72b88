package tasks

import (
	"context"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/upgrade"
)

// Any reports whether there are tasks of berth's own, or may be. Where there are none, the other questions are answered by no.
func (f *Face) Any() bool { return f.Tasks != nil || len(f.Rules) > 0 }

// Rule returns the rule that names the tool which the request calls; nil if none does.
// A batch has one answer for all its calls, so that none of them can become a task.
func (f *Face) Rule(call *inbound.Call) *upgrade.Rule { return f.ruleOf(call, call.Single()) }

func (f *Face) ruleOf(call *inbound.Call, c *mcp.Call) *upgrade.Rule {
	if c == nil || c.Kind != mcp.KindRequest || c.Method != mcp.MethodCallTool {
		return nil
	}
	return f.Rules.For(call.PoolName(), c.Name)
}

// Upgradable reports whether the request is a call that becomes a task: one to a tool
// that a rule names, by a client that takes tasks.
func (f *Face) Upgradable(call *inbound.Call) bool {
	c := call.Single()
	return f.Tasks != nil && c != nil && c.Era == mcp.EraModern && c.DeclaresTasks && f.Rule(call) != nil
}

// AsksTask reports whether the request is a call that asks to be made a task, as
// clients of 2025-11-25 do, in a pool whose tools' calls may become tasks.
func (f *Face) AsksTask(call *inbound.Call) bool {
	c := call.Single()
	return f.Tasks != nil && c != nil && c.AsksTask() && !c.MakesTask() && f.Rules.In(call.PoolName())
}

// PutsOffCharge reports whether the request is counted by rules about tools when it makes something new, and not before: a call that
// may have its task already, by the name that its client gave it.
func (f *Face) PutsOffCharge(call *inbound.Call) bool {
	key, err := call.OnceKey()
	return err == nil && key != "" && (f.Upgradable(call) || f.AsksTask(call))
}

// Owns reports whether the request is about a task of berth's own making, by a method
// that such tasks have. What any other method asks is not told by whose the task is, nor by
// whether there is one: it goes the way of an id that nobody knows. It fails while nobody
// can say.
func (f *Face) Owns(ctx context.Context, call *inbound.Call) (bool, error) {
	c := call.Single()
	if f.Tasks == nil || c == nil || !c.IsTask() || !hasMethod(c) {
		return false, nil
	}
	return f.Tasks.IDs.Ours(ctx, c.TaskID)
}

// hasMethod reports whether tasks of berth's own making have the call's method, in the
// dialect of its era.
func hasMethod(c *mcp.Call) bool {
	switch c.Method {
	case mcp.MethodGetTask, mcp.MethodCancelTask:
		return true
	case mcp.MethodTaskResult:
		return c.Era == mcp.EraLegacy
	case mcp.MethodUpdateTask:
		return c.Era == mcp.EraModern
	}
	return false
}

// NamesNone reports whether the request is about a task by a method of the Tasks extension, and names none, in a pool whose
// tasks berth makes.
func (f *Face) NamesNone(call *inbound.Call) bool {
	c := call.Single()
	return c != nil && c.Era == mcp.EraModern && hasMethod(c) && !c.HasTaskID && f.Rules.In(call.PoolName())
}

// HasNoSuchMethod reports whether the request asks for what the Tasks extension does not
// have, of a pool whose tasks berth makes: the servers behind know nothing of them.
func (f *Face) HasNoSuchMethod(call *inbound.Call) bool {
	c := call.Single()
	if c == nil || c.Era != mcp.EraModern || c.Method != mcp.MethodTaskResult && c.Method != mcp.MethodListTasks {
		return false
	}
	return f.Rules.In(call.PoolName())
}
