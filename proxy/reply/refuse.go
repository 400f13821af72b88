package reply

import (
	"slices"
	"strings"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
)

// Refuse writes an error of berth's own as the whole answer to c. short says that memory is.
func (w *Writer) Refuse(c *inbound.Call, e *mcp.Error, short bool) {
	h := w.Header()
	exchange.Instruct(h, e)
	if e.Status == wire.StatusMethodNotAllowed {
		h.Set("Allow", strings.Join(c.Methods(), ", "))
	}
	if c.HTTP.ContentLength != 0 && !c.BodyRead && !mayKeep(c, e, short) {
		h.Set("Connection", "close") // the answer must not wait for the rest of the body
	}
	body := e.Body(c.ID)
	if c.InArray {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	w.Respond(e.Status, body)
}

// mayKeep reports whether the connection of a request that was turned away unread is
// kept. Whoever carries it reads on to a body's end before it answers, and one so small came with
// the head: under load that costs less than the client's next connection. Where memory
// is short the connection is in the way.
func mayKeep(c *inbound.Call, e *mcp.Error, short bool) bool {
	return e == fault.Overloaded && c.HTTP.ContentLength > 0 && c.HTTP.ContentLength <= inbound.FirstRead && !short
}
