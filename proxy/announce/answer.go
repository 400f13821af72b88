package announce

import (
	"strconv"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/offer"
	"berth/internal/mcp/taskwire"
	"berth/internal/sse"
	"berth/internal/wire"
	"berth/proxy/reply"
	"berth/sticky"
)

// maxListed is how much of a list of tools is held so that something can be added to it,
// in bytes. A longer one passes as it came.
const maxListed = 4 << 20

// Answer is one by which a client learns which calls can be tasks. A nil one is any other, and
// passes as it came.
type Answer struct {
	announcer *Announcer
	method    string
	lists     bool // berth lists the tasks of one caller
	out       *reply.Writer
	promised  string
}

// Read has a reader hold as much of the answer's messages as berth may have to add something to.
func (a *Answer) Read(reader *exchange.Reader, shape exchange.Shape, response *wire.Response) {
	most := mcp.MaxPeek
	if a != nil && a.method == mcp.MethodListTools {
		most = maxListed
	}
	reader.Begin(shape, response.Body, most)
	reader.Length = response.ContentLength
}

// Body has piece, an answer in JSON or its first piece, be as the client is to get it. Its headers
// have been copied.
func (a *Answer) Body(piece *exchange.Piece, response *wire.Response) {
	message, changed := a.completed(piece)
	if !changed {
		return
	}
	piece.Raw, piece.Message = message, message
	if response.ContentLength >= 0 {
		a.out.Header().Set("Content-Length", strconv.Itoa(len(message)))
	}
}

// Event returns the bytes of an event as the client is to get them; raw is what they are so far.
func (a *Answer) Event(piece exchange.Piece, raw []byte) []byte {
	if !piece.Between {
		return raw
	}
	message, changed := a.completed(&piece)
	if !changed {
		return raw
	}
	return sse.WithData(raw, message)
}

// Observe notes whose tasks an answer to initialize promises, before the session that it hands
// out is bound.
func (a *Answer) Observe(piece *exchange.Piece) {
	if a == nil || a.method != mcp.MethodInitialize {
		return
	}
	if _, adds := a.completed(piece); adds {
		a.promised = sticky.TasksAdded
	} else if offer.OffersTasks(piece.Message) {
		a.promised = sticky.TasksOwn
	}
	if a.promised != "" {
		a.announcer.support.promise(a.promised)
	}
}

// Promised is what Observe has noted, as sticky.Binding.Tasks has it.
func (a *Answer) Promised() string {
	if a == nil {
		return ""
	}
	return a.promised
}

// completed returns the message of a piece with what it lacks, unless that made it larger
// than an answer may be.
func (a *Answer) completed(piece *exchange.Piece) (message []byte, changed bool) {
	if a == nil || piece.Cut {
		return nil, false
	}
	switch a.method {
	case mcp.MethodDiscover:
		message, changed = offer.AddTasksExtension(piece.Message)
	case mcp.MethodInitialize:
		message, changed = offer.AddTasksCapability(piece.Message, a.lists)
	case mcp.MethodListTools:
		message, changed = taskwire.AddSupport(piece.Message, a.announcer.supportOf)
	}
	return message, changed && !a.out.TooLarge(int64(len(message)))
}
