package proxy

import (
	"slices"
	"strings"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/admission"
	"berth/proxy/fault"
	"berth/proxy/inbound"
)

// fail answers the client with what the ladder says of err. After headers are out
// an answer can only be broken off, unless they are an early stream's.
func (x *request) fail(err error) {
	x.rec.Err = err
	answer := x.Word(err)
	if answer == nil || !x.out.MayAnswer() {
		x.aborted = true
		return
	}
	x.answer(answer)
}

// answer writes an error of our own as the whole answer.
func (x *request) answer(e *mcp.Error) {
	h := x.out.Header()
	exchange.Instruct(h, e)
	if e.Status == wire.StatusMethodNotAllowed {
		h.Set("Allow", strings.Join(x.Methods(), ", "))
	}
	if x.HTTP.ContentLength != 0 && !x.BodyRead && !mayKeep(x.Call, e, x.p.gate) {
		h.Set("Connection", "close") // the answer must not wait for the rest of the body
	}
	x.rec.Code = e.Code
	body := e.Body(x.ID)
	if x.InArray {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	x.out.Respond(e.Status, body)
}

// mayKeep reports whether the connection of a request that was turned away unread is
// kept. net/http reads on to a body's end before it answers, and one so small came with
// the head: under load that costs less than the client's next connection. Where memory
// is short the connection is in the way.
func mayKeep(x *inbound.Call, e *mcp.Error, gate *admission.Gate) bool {
	return e == fault.Overloaded && x.HTTP.ContentLength > 0 && x.HTTP.ContentLength <= inbound.FirstRead && !gate.IsShort()
}
