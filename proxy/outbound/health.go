package outbound

import (
	"fmt"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/routing"
)

// NoteFailure feeds the health of an upstream that gave no answer, or none in HTTP: that
// is as bad as a gateway's error, and no silence. That berth could not ask is no failure of
// the upstream's.
func (ep Sender) NoteFailure(u *routing.Upstream, failed *exchange.SendError) {
	if failed.Starved {
		return
	}
	how := routing.FailedConnect
	if failed.TimedOut {
		how = routing.FailedTimeout
	}
	ep.Router.Pool.Failed(u, how, failed)
	if failed.TimedOut || !failed.Sent {
		ep.Router.Pool.FellSilent(u, failed)
	}
}

// NoteAnswer feeds the health of an upstream that answered.
func (ep Sender) NoteAnswer(u *routing.Upstream, response *wire.Response) {
	if !isTrouble(response.Status) {
		ep.Router.Pool.Succeeded(u)
		return
	}
	ep.Router.Pool.Answered(u)
	ep.Router.Pool.Failed(u, routing.FailedStatus, fmt.Errorf("HTTP %d %s", response.Status, response.Phrase))
}

// isTrouble reports whether a status says that the server, or what stands behind a gateway,
// is not well: all of 5xx but 501, which is said of the method. What a server says in
// JSON-RPC, and what it says of the request (4xx), is an answer.
func isTrouble(status int) bool {
	return status >= 500 && status != wire.StatusNotImplemented
}
