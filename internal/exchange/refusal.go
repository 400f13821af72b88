package exchange

import (
	"strconv"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// Refusal is the answer that an error is to the request with this raw id; nil: to none that is
// known.
func Refusal(e *mcp.Error, id []byte) *wire.Response {
	r := wire.Whole(e.Status, e.Body(id))
	Instruct(r.Header, e)
	return r
}

// TurnedAway is Refusal where a bound of berth's own is why, and no server was asked.
func TurnedAway(e *mcp.Error, id []byte) *wire.Response {
	r := Refusal(e, id)
	r.Unasked = true
	return r
}

// Instruct sets the headers of an answer that is an error: when to come again, and how to
// authorise the request (RFC 9110, 10.2.3, 11.6.1).
func Instruct(h *wire.Header, e *mcp.Error) {
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((e.RetryAfter+time.Second-1)/time.Second)))
	}
	if e.Challenge != "" {
		h.Set("Www-Authenticate", e.Challenge)
	}
}
