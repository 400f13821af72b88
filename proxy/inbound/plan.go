package inbound

import (
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// Plan is what concerns a request, decided once, when it is classified. By method and era:
//
//	method                              goes to                        waits    again  answer    room
//	tasks/get, result, cancel, update   the task's owner, or berth     Read/Call reads  be clear  begun
//	tools/call, prompts/get, …          session's owner, or picked     Call     no     may create new
//	  (legacy, by a rule: a task)       berth, once its session is known
//	*/list, */read, completion          session's owner, or picked     Read     yes    –         new
//	tasks/list (legacy)                 all upstreams of the pool      Read     yes    –         new
//	initialize (legacy)                 picked; binds the session      Control  no     –         new
//	server/discover (modern)            picked                         Read     yes    –         new
//	subscriptions/listen (modern)       the owners of what it names    Control  –      –         stream
//	GET (legacy: a session's stream)    the session's owner            Call     yes    –         stream
//	DELETE, answers, notifications      the session's owner            Control  no     –         begun
//	other methods                       session's owner, or picked     Call     no     –         new
//
// What the pool does not have costs nothing: an endpoint without affinity, first draft or rules
// has none of their observers.
type Plan struct {
	ReadsOnly     bool          // it changes nothing, so that it may be sent a second time
	AboutTask     bool          // it is one call about one task
	Subscribes    bool          // it opens a subscription; what calls itself one within a session is its upstream's to judge
	Stands        bool          // it is for a stream that never ends by itself
	ConcernsBegun bool          // it is about work that has begun: a task, an answer or a word to a server that waits for it, the end of a session
	MayCreateTask bool          // its answer may bear a task
	MustBeClear   bool          // its answer may bear a task, or is about one
	MayPoll       bool          // its client may be told of a task (Tasks extension, "Capability Negotiation")
	Polls         int           // how many tasks it asks for; those of a subscription are looked up, and polled once each
	Patience      time.Duration // how long the answer's headers may take
	Drafts        bool          // the answer may tell of tasks whose ids clients made
	Keeps         bool          // the answer may tell of values that keep calls together
	Charges       []Charge      // what it costs by rules about tools
}

// plan decides what concerns the request, as far as it is known.
func (x Arrival) plan() {
	calls, method := x.Message.Calls, x.HTTP.Method
	c := x.Single()
	made := slices.ContainsFunc(calls, func(c mcp.Call) bool { return c.MakesTask() })
	legacy := x.Era() == mcp.EraLegacy
	p := Plan{
		ReadsOnly:     len(calls) == 0 && method != wire.MethodDelete || len(calls) > 0 && !made && !slices.ContainsFunc(calls, changes),
		AboutTask:     c != nil && c.IsTask(),
		Subscribes:    c != nil && c.Kind == mcp.KindRequest && c.Method == mcp.MethodListen && x.Session == "",
		Stands:        c == nil && method == wire.MethodGet || c != nil && c.Method == mcp.MethodListen,
		ConcernsBegun: method == wire.MethodDelete || len(calls) > 0 && !slices.ContainsFunc(calls, begins),
		MayCreateTask: x.AnyRequest(mcp.MayCreateTask),
		MayPoll:       c != nil && (c.Era == mcp.EraLegacy || c.DeclaresTasks),
		Polls:         polls(calls),
		Drafts:        x.Endpoint.FirstDraft && legacy,
		Keeps:         len(x.Endpoint.Affinity) > 0 && x.Session == "",
	}
	if len(x.Endpoint.Rates) > 0 {
		p.Charges = x.charges()
	}
	p.MustBeClear = p.MayCreateTask || p.AboutTask
	p.Patience = x.patience(p.ReadsOnly, made || x.AnyRequest(mcp.MayWait))
	x.Plan = p
}

// patience is the time for the answer to a request that only reads, or that waits for work.
func (x Arrival) patience(reads, waits bool) time.Duration {
	t, none := x.Endpoint.Timeouts, len(x.Message.Calls) == 0
	switch {
	case x.BeforeAuthorization():
		return t.Read
	case none && x.HTTP.Method == wire.MethodGet:
		return t.Call
	case none:
		return t.Control
	case reads:
		return t.Read
	case waits:
		return t.Call
	}
	return t.Control
}

// changes reports whether a call may change something where it goes.
func changes(c mcp.Call) bool {
	return c.Kind != mcp.KindRequest || !mcp.IsPureRead(c.Method) && c.Method != mcp.MethodGetTask
}

// begins reports whether a call is new work.
func begins(c mcp.Call) bool { return c.Kind == mcp.KindRequest && !c.IsTask() }

func polls(calls []mcp.Call) (n int) {
	for i := range calls {
		switch c := &calls[i]; c.Method {
		case mcp.MethodGetTask, mcp.MethodTaskResult:
			n++
		case mcp.MethodListen:
			n += min(len(c.Listen.TaskIDs()), routing.MaxListenIDs)
		}
	}
	return n
}
