package audit

import (
	"cmp"
	"errors"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/trouble"
	"berth/internal/wire"
)

// What unknown ids are called.
const (
	unknownTask    = "unknown task"
	unknownSession = "unknown session"
)

// noteTrouble notes what the request tells of troubles.
func (r *Record) noteTrouble(ended end) {
	if r.reporter.troubles == nil || r.Err == nil && r.Code == 0 && r.Status != wire.StatusNotFound {
		return
	}
	kind, what, detail := r.trouble(ended.outcome)
	if kind == "" {
		return
	}
	e := trouble.Event{At: ended.at, Pool: r.call.PoolName(), What: what, Caller: r.principal(), Detail: detail}
	if c := r.call.Single(); c != nil {
		e.ID = c.TaskID
	}
	r.reporter.troubles.Note(kind, e)
}

// trouble is what kind of trouble the request was, "" if none: what nobody knows, what was lost with its
// holder, or what berth did not take.
func (r *Record) trouble(outcome string) (kind trouble.Kind, what, detail string) {
	if r.Err == nil {
		return r.unknownUpstream()
	}
	e := r.call.Word(r.Err)
	switch {
	case e == nil:
		return "", "", ""
	case errors.Is(e, mcp.ErrUnknownTask):
		return trouble.UnknownIDs, unknownTask, ""
	case errors.Is(e, mcp.ErrUnknownSession):
		return trouble.UnknownIDs, unknownSession, ""
	case e.Reason == mcp.ReasonHolderLost:
		return trouble.HolderLost, e.Reason, e.Message
	case outcome == outcomeRefused, outcome == outcomeFailed && e.Outcome == mcp.NotExecuted:
		return trouble.Refusals, cmp.Or(e.Reason, e.Message), e.Message
	}
	return "", "", ""
}

// unknownUpstream is what the request was if its owner does not know its task or its session.
func (r *Record) unknownUpstream() (kind trouble.Kind, what, detail string) {
	const says = "says its upstream"
	c := r.call.Single()
	switch {
	case c != nil && r.Code == mcp.CodeInvalidParams && (c.Method == mcp.MethodGetTask || c.Method == mcp.MethodTaskResult):
		return trouble.UnknownIDs, unknownTask, says
	case r.Status == wire.StatusNotFound && r.call.Session != "":
		return trouble.UnknownIDs, unknownSession, says
	}
	return "", "", ""
}

// principal is who sent the request, as a digest; "" for nobody.
func (r *Record) principal() string {
	if r.call.Principal == "" {
		return ""
	}
	return seal.Digest(r.call.Principal)
}
