package bridge

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/sessions"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/session"
)

// How long an upstream is told what a client has answered, while it does not take that, and how far apart.
const (
	tellFor   = 5 * time.Second
	tellAgain = time.Second
)

// errTakesNone is what an upstream that is not well leaves an answer with. What asked waits on.
var errTakesNone = &mcp.Error{
	Status: wire.StatusServiceUnavailable, Code: mcp.CodeUnavailable, Message: "the server takes no answer now",
	Reason: mcp.ReasonOverloaded, RetryAfter: fault.RetrySoon, Outcome: mcp.Unknown,
}

// tell gives an upstream, in a session, a client's answer. What may pass is tried again, as an upstream ignores an answer that it has, and
// what the upstream refuses for its caller's credentials where that may yet bring others. A *session.Refusal denies the session.
func tell(ctx context.Context, out *exchange.Request, l *sessions.Session, answer []byte) error {
	for began := time.Now(); ; {
		err := l.Tell(ctx, out, answer)
		most, final := patienceWith(err, out)
		if time.Since(began) >= most {
			return final
		}
		select {
		case <-time.After(tellAgain):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// patienceWith says for how long what comes of telling is tried again, and what it is in the end.
func patienceWith(err error, out *exchange.Request) (most time.Duration, final error) {
	failed, isFailed := errors.AsType[*exchange.SendError](err)
	refusal, refused := errors.AsType[*session.Refusal](err)
	switch {
	case isFailed && !failed.Unstarted:
		return tellFor, err
	case !refused, outbound.DeniesSession(refusal.Status):
		return 0, err
	case wire.RefusesCredentials(refusal.Status) && out.Renewal != nil:
		out.Renewal.Refused()
		return flow.ResumeFor, refusal.OfCredentials()
	case wire.RefusesCredentials(refusal.Status):
		return 0, refusal.OfCredentials()
	case outbound.MayPass(refusal.Status):
		return tellFor, errTakesNone
	}
	return 0, fault.BadUpstream
}
