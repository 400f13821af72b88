package inbound

import (
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
	c, all := x.Single(), sumOf(calls)
	p := &x.Plan
	*p = Plan{
		ReadsOnly:     len(calls) == 0 && method != wire.MethodDelete || len(calls) > 0 && !all.makes && !all.changes,
		Stands:        c == nil && method == wire.MethodGet,
		ConcernsBegun: method == wire.MethodDelete || len(calls) > 0 && !all.begins,
		MayCreateTask: all.creates,
		Polls:         all.polls,
		Drafts:        x.Endpoint.FirstDraft && x.Era() == mcp.EraLegacy,
		Keeps:         len(x.Endpoint.Affinity) > 0 && x.Session == "",
	}
	if c != nil {
		p.AboutTask = c.IsTask()
		p.Stands = c.Method == mcp.MethodListen
		p.Subscribes = p.Stands && c.Kind == mcp.KindRequest && x.Session == ""
		p.MayPoll = c.Era == mcp.EraLegacy || c.DeclaresTasks
	}
	if len(x.Endpoint.Rates) > 0 {
		p.Charges = x.charges()
	}
	p.MustBeClear = p.MayCreateTask || p.AboutTask
	p.Patience = x.patience(p.ReadsOnly, all.makes || all.waits)
}

// sum is what is so of one call at least.
type sum struct {
	makes   bool // it is to become a task
	changes bool // it may change something where it goes
	begins  bool // it is new work
	creates bool // its answer may bear a task
	waits   bool // its answer may take as long as a tool
	polls   int  // how many tasks they ask for
}

func sumOf(calls []mcp.Call) (s sum) {
	for i := range calls {
		c := &calls[i]
		s.polls += polls(c)
		switch {
		case c.Kind != mcp.KindRequest:
			s.changes = true
		case c.IsTask(): // it neither makes one nor begins anything
			s.changes = s.changes || c.Method != mcp.MethodGetTask
			s.waits = s.waits || c.Method == mcp.MethodTaskResult
		default:
			creates := mcp.MayCreateTask(c.Method)
			s.makes = s.makes || c.MakesTask()
			s.changes = s.changes || !mcp.IsPureRead(c.Method) && c.Method != mcp.MethodGetTask
			s.begins = true
			s.creates = s.creates || creates
			s.waits = s.waits || creates || mcp.MayWait(c.Method)
		}
	}
	return s
}

// polls is how many tasks a call asks for.
func polls(c *mcp.Call) int {
	switch c.Method {
	case mcp.MethodGetTask, mcp.MethodTaskResult:
		return 1
	case mcp.MethodListen:
		return min(len(c.Listen.TaskIDs()), routing.MaxListenIDs)
	}
	return 0
}

// patience is the time for the answer to a request that only reads, or that waits for work.
func (x Arrival) patience(reads, waits bool) time.Duration {
	t, none := &x.Endpoint.Timeouts, len(x.Message.Calls) == 0
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
