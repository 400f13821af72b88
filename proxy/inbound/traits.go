package inbound

import (
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
	"berth/sticky"
)

// Stands reports whether the request is for a stream that never ends by itself.
func (x *Call) Stands() bool {
	c := x.Single()
	return c == nil && x.HTTP.Method == wire.MethodGet || c != nil && c.Method == mcp.MethodListen
}

// ConcernsBegun reports whether the request is about work that has begun: a task, an
// answer or a word to a server that waits for it, the end of a session.
func (x *Call) ConcernsBegun() bool {
	if x.HTTP.Method == wire.MethodDelete {
		return true
	}
	for i := range x.Message.Calls {
		if c := &x.Message.Calls[i]; c.Kind == mcp.KindRequest && !c.IsTask() {
			return false
		}
	}
	return len(x.Message.Calls) > 0
}

// Polls is how many tasks the request asks for. Those of a subscription are looked up,
// and polled once each.
func (x *Call) Polls() int {
	n := 0
	for i := range x.Message.Calls {
		switch c := &x.Message.Calls[i]; c.Method {
		case mcp.MethodGetTask, mcp.MethodTaskResult:
			n++
		case mcp.MethodListen:
			n += min(len(c.Listen.TaskIDs()), routing.MaxListenIDs)
		}
	}
	return n
}

// Subscribes reports whether the request opens a subscription. What calls itself one
// within a session is its upstream's to judge.
func (x *Call) Subscribes() bool {
	c := x.Single()
	return c != nil && c.Kind == mcp.KindRequest && c.Method == mcp.MethodListen && x.Session == ""
}

// AboutTask reports whether the request is one call about one task.
func (x *Call) AboutTask() bool {
	c := x.Single()
	return c != nil && c.IsTask()
}

// ReadsOnly reports whether the request changes nothing, so that it may be sent
// a second time.
func (x *Call) ReadsOnly() bool {
	if len(x.Message.Calls) == 0 {
		return x.HTTP.Method != wire.MethodDelete
	}
	if x.makesTask() {
		return false
	}
	for i := range x.Message.Calls {
		c := &x.Message.Calls[i]
		if c.Kind != mcp.KindRequest || !mcp.IsPureRead(c.Method) && c.Method != mcp.MethodGetTask {
			return false
		}
	}
	return true
}

// Patience is how long the answer's headers may take.
func (x *Call) Patience() time.Duration {
	t := x.Endpoint.Timeouts
	switch {
	case x.Opaque:
		return t.Read
	case len(x.Message.Calls) == 0 && x.HTTP.Method == wire.MethodGet:
		return t.Call
	case len(x.Message.Calls) == 0:
		return t.Control
	case x.ReadsOnly():
		return t.Read
	}
	if x.makesTask() || x.AnyRequest(mcp.MayWait) {
		return t.Call
	}
	return t.Control
}

// makesTask reports whether some of the request is to become a task whose id the client
// made.
func (x *Call) makesTask() bool {
	return slices.ContainsFunc(x.Message.Calls, func(c mcp.Call) bool { return c.MakesTask() })
}

// Makes reports whether a call of the request makes the task with this id.
func (x *Call) Makes(id string) bool {
	return slices.ContainsFunc(x.Message.Calls, func(c mcp.Call) bool { return c.MakesTask() && c.NewTaskID == id })
}

func (x *Call) MayCreateTask() bool {
	return x.AnyRequest(mcp.MayCreateTask)
}

// MustBeClear reports whether the answer may bear a task, or is about one.
func (x *Call) MustBeClear() bool { return x.MayCreateTask() || x.AboutTask() }

// MayPoll: what is served in an owner's place goes by the same rule that the
// owner would apply (Tasks extension, "Capability Negotiation").
func (x *Call) MayPoll() bool {
	c := x.Single()
	return c.Era == mcp.EraLegacy || c.DeclaresTasks
}

// TaskKey is the key of the task that the call is about.
func (x *Call) TaskKey() sticky.Key {
	return x.Endpoint.Router.TaskKey(x.Principal, x.Single().TaskID)
}

// AskedTTL is how long the client wants its task to live, 0 for as long as the rule says.
// That it wants none is a wish, too.
func (x *Call) AskedTTL() (time.Duration, error) {
	ttl, asked, err := x.Single().AskedTTL()
	if asked {
		ttl = max(ttl, time.Millisecond)
	}
	return ttl, err
}
