package proxy

import (
	"net/http"
	"strconv"

	"berth/internal/exchange"
	"berth/internal/mcp"
)

// mayDiscover reports whether the answer, of this status, is a server/discover's whose
// server is to take tasks, because berth makes them of calls of its tools.
func (x *request) mayDiscover(status int) bool {
	c := x.call()
	return status == http.StatusOK && c != nil && c.Kind == mcp.KindRequest && c.Method == mcp.MethodDiscover &&
		x.p.options.Rules.In(x.poolName())
}

// discovered returns an answer in JSON, or its first piece, as the client is to get it.
// Its headers have been copied.
func (x *request) discovered(response *http.Response, piece exchange.Piece) exchange.Piece {
	if piece.Cut || !x.mayDiscover(response.StatusCode) {
		return piece
	}
	message, added := mcp.AddTasksExtension(piece.Message)
	if !added {
		return piece
	}
	piece.Raw, piece.Message = message, message
	if response.ContentLength >= 0 {
		x.w.Header().Set("Content-Length", strconv.Itoa(len(message)))
	}
	return piece
}

// discoveredEvent returns the bytes of an event as the client is to get them.
func (x *request) discoveredEvent(piece exchange.Piece, raw []byte) []byte {
	if piece.Cut || !piece.Between || !x.mayDiscover(x.status) {
		return raw
	}
	message, added := mcp.AddTasksExtension(piece.Message)
	if !added {
		return raw
	}
	return mcp.WithData(raw, message)
}
