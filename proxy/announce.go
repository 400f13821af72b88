package proxy

import (
	"strconv"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/sticky"
	"berth/upgrade"
)

// maxListed is how much of a list of tools is held so that something can be added to it,
// in bytes. A longer one passes as it came.
const maxListed = 4 << 20

// announcing returns the method of the request if its answer is one by which clients learn
// which calls can be tasks, and berth, which makes them of calls of the pool's tools, has
// its share in that; "" otherwise.
func (x *request) announcing(response *wire.Response) string {
	c := x.Single()
	if response.Status != wire.StatusOK || c == nil || c.Kind != mcp.KindRequest || !x.p.options.Rules.In(x.PoolName()) {
		return ""
	}
	switch c.Method {
	case mcp.MethodDiscover, mcp.MethodInitialize:
		return c.Method
	case mcp.MethodListTools:
		if x.HasCoreTasks(&x.decision) {
			return c.Method
		}
	}
	return ""
}

// answerReader returns a reader that holds as much of an answer's messages as berth may
// have to add something to.
func (x *request) answerReader(shape exchange.Shape, response *wire.Response) *exchange.Reader {
	most := mcp.MaxPeek
	if x.announces == mcp.MethodListTools {
		most = maxListed
	}
	return exchange.NewLongReader(shape, response.Body, most)
}

// announced returns an answer in JSON, or its first piece, as the client is to get it.
// Its headers have been copied.
func (x *request) announced(response *wire.Response, piece exchange.Piece) exchange.Piece {
	message, changed := x.announce(piece)
	if !changed {
		return piece
	}
	piece.Raw, piece.Message = message, message
	if response.ContentLength >= 0 {
		x.out.Header().Set("Content-Length", strconv.Itoa(len(message)))
	}
	return piece
}

// announcedEvent returns the bytes of an event as the client is to get them.
func (x *request) announcedEvent(piece exchange.Piece, raw []byte) []byte {
	if !piece.Between {
		return raw
	}
	message, changed := x.announce(piece)
	if !changed {
		return raw
	}
	return mcp.WithData(raw, message)
}

// announce returns the message of a piece with what it lacks, unless that made it larger
// than an answer may be.
func (x *request) announce(piece exchange.Piece) (message []byte, changed bool) {
	if piece.Cut {
		return nil, false
	}
	message, changed = x.completed(piece)
	return message, changed && !x.out.TooLarge(int64(len(message)))
}

func (x *request) completed(piece exchange.Piece) (message []byte, changed bool) {
	switch x.announces {
	case mcp.MethodDiscover:
		return mcp.AddTasksExtension(piece.Message)
	case mcp.MethodInitialize:
		return mcp.AddTasksCapability(piece.Message, x.Endpoint.Identifier != nil)
	case mcp.MethodListTools:
		return mcp.AddTaskSupport(piece.Message, x.supportOf)
	}
	return nil, false
}

// servesAnnounced reports whether a call asks for what berth told its client of, and the
// upstream has no method for: a task that is not berth's is one that does not exist.
func (x *request) servesAnnounced(c *mcp.Call) bool {
	switch c.Method {
	case mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodCancelTask:
		return c.IsTask() && x.HasCoreTasks(&x.decision) && x.tasksPromised() == sticky.TasksAdded && x.p.options.Rules.In(x.PoolName())
	}
	return false
}

// promise notes whose tasks an answer to initialize promises, before the session that it
// hands out is bound.
func (x *request) promise(piece exchange.Piece) {
	if x.announces != mcp.MethodInitialize {
		return
	}
	if _, adds := x.announce(piece); adds {
		x.promised = sticky.TasksAdded
	} else if mcp.OffersTasks(piece.Message) {
		x.promised = sticky.TasksOwn
	}
	if x.promised != "" {
		x.p.learned[x.Endpoint].support.promise(x.promised)
	}
}

// supportOf returns what a tool of a list is to say of tasks, "" for what it says itself,
// which it notes.
func (x *request) supportOf(tool, says string) string {
	rule := x.p.options.Rules.For(x.PoolName(), tool)
	if rule == nil {
		return ""
	}
	x.p.learned[x.Endpoint].support.learn(tool, says)
	if saysSomething(says) {
		return ""
	}
	return supportBy(rule)
}

// supportBy is what a tool says for which the rule speaks.
func supportBy(rule *upgrade.Rule) string {
	if rule.Required {
		return mcp.TaskRequired
	}
	return mcp.TaskOptional
}

// saysSomething reports whether a tool has a word of its own in what its calls become.
// The default is none, also where it is spelt out, as the TypeScript SDK v1 does for each
// tool that was registered as a plain one.
func saysSomething(says string) bool { return says != "" && says != mcp.TaskForbidden }
