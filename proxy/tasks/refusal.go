package tasks

import (
	"errors"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/reply"
)

// fail returns what the client is answered with, or puts it at the end of the event stream
// that it has: a client takes one that just ends for one that goes on.
func (a *waiting) fail(err error) error {
	worded := a.r.Word(err)
	if worded == fault.Internal { // what broke off has no words of its own
		err, worded = fault.StreamReset, fault.StreamReset
	}
	if !a.opened || worded == nil {
		return err
	}
	a.r.Rec.Err, a.r.Rec.Code = err, worded.Code
	return a.r.Out.WriteThrough(reply.Event(worded.Body(a.r.ID)))
}

// plainly gives a failure that is worded as a task's the status that it has as an answer.
func plainly(err error) error {
	if worded, ok := errors.AsType[*mcp.Error](err); ok && worded.Status == 0 {
		answer := *worded
		answer.Status = wire.StatusBadGateway
		return &answer
	}
	return err
}
