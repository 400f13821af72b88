package proxy

import (
	"slices"
	"strings"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/reply"
)

// fail answers the client with what the ladder says of err. After headers are out
// an answer can only be broken off, unless they are an early stream's.
func (x *request) fail(err error) {
	if x.Ctx != nil && isCancelled(x.Ctx) {
		err = fault.Cancelled
	}
	x.rec.Err = err
	answer := x.Word(err)
	if answer == nil || !x.out.MayAnswer() {
		x.aborted = true
		return
	}
	x.rec.Code = answer.Code
	refuse(x.Call, x.out, answer, x.p.gate.IsShort())
}

// refuse writes an error of our own as the whole answer to c.
func refuse(c *inbound.Call, out *reply.Writer, e *mcp.Error, short bool) {
	h := out.Header()
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
	out.Respond(e.Status, body)
}

// mayKeep reports whether the connection of a request that was turned away unread is
// kept. net/http reads on to a body's end before it answers, and one so small came with
// the head: under load that costs less than the client's next connection. Where memory
// is short the connection is in the way.
func mayKeep(c *inbound.Call, e *mcp.Error, short bool) bool {
	return e == fault.Overloaded && c.HTTP.ContentLength > 0 && c.HTTP.ContentLength <= inbound.FirstRead && !short
}
