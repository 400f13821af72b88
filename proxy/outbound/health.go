package outbound

import (
	"errors"
	"fmt"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
	"berth/routing/health"
)

// What an exchange says of an upstream, whoever sent it: a client, a held call, a leg of a
// subscription, berth itself.
//
//	no connection, or no headers in time                     failed, and silent
//	a server that berth runs cannot be started               failing
//	one that it runs is late                                 failed
//	broken off after some of the request was sent, or        failed
//	  an answer that is none in HTTP
//	a status of 5xx but 501                                   failed, and there
//	a bound of berth's own, by which no server was asked      nothing
//	any other answer                                          well
//	the context ended first; no descriptor or port was left;  nothing
//	  the way to another berth failed, which was to send it;
//	  a kept connection broke, and the request is sent again
//
// The probe of a silent upstream alone goes by itself: an answer to it ends the silence, and
// counts as neither.

// failed feeds the health of an upstream that gave no answer, or none in HTTP: that
// is as bad as a gateway's error, and no silence.
func (s Sender) failed(u *routing.Upstream, failed *exchange.SendError) {
	switch {
	case failed.IsOwn():
		return
	case failed.Unstarted:
		cause := failed.Err
		if worded, ok := errors.AsType[*mcp.Error](cause); ok {
			cause = errors.New(worded.Message)
		}
		s.Router.Pool.NotStarted(u, cause)
		return
	}
	how := health.FailedConnect
	if failed.TimedOut {
		how = health.FailedTimeout
	}
	s.Router.Pool.Failed(u, how, failed)
	if !u.Hosted && (failed.TimedOut || !failed.Sent) { // else one process of several is slow
		s.Router.Pool.FellSilent(u, failed)
	}
}

// answered feeds the health of an upstream that answered.
func (s Sender) answered(u *routing.Upstream, response *wire.Response) {
	switch {
	case response.Unasked:
		return
	case !isTrouble(response.Status):
		s.Router.Pool.Succeeded(u)
		return
	}
	s.Router.Pool.Answered(u)
	s.Router.Pool.Failed(u, health.FailedStatus, fmt.Errorf("HTTP %d %s", response.Status, response.Phrase))
}

// isTrouble reports whether a status says that the server, or what stands behind a gateway,
// is not well: all of 5xx but 501, which is said of the method. What a server says in
// JSON-RPC, and what it says of the request (4xx), is an answer.
func isTrouble(status int) bool {
	return status >= 500 && status != wire.StatusNotImplemented
}

// MayPass reports whether a status refuses a request for now alone: the server is not well, or has
// too much to do.
func MayPass(status int) bool { return status == wire.StatusTooManyRequests || isTrouble(status) }
