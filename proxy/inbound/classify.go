package inbound

import (
	"strings"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
)

// maxRequestID bounds the JSON-RPC id of a request, in bytes: answers of berth's own
// repeat it, and a standing stream keeps it.
const maxRequestID = 1 << 10

// HasOddSession is the function of that name, with the limit that holds for the call.
func (x *Call) HasOddSession(h *wire.Header) bool {
	return HasOddSession(h, x.Settings.Limits.SessionID)
}

// HasOddSession reports whether an answer names a session by what no client could send
// back, or not alike to all readers, or by more than limit bytes.
func HasOddSession(h *wire.Header, limit int) bool {
	id, n := h.First(mcp.HeaderSession)
	return n > 1 || n == 1 && !isFitForSession(id, limit)
}

// isFitForSession reports whether an id can be a session's: they are visible ASCII (2025-11-25, transports, "Session
// Management"), so that nobody can hold one with anything else in it.
func isFitForSession(id string, limit int) bool {
	return len(id) <= limit && !strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e })
}

// Classify peeks at the body and holds the headers against it.
func (x Arrival) Classify() error {
	id, refusal := x.Message.Peek(x.Body, x.Settings.Limits.Batch)
	if len(id) <= maxRequestID {
		x.ID = id
	}
	if refusal != nil {
		x.InArray, x.Message = x.Message.Batch, mcp.Message{}
		return refusal
	}
	if c := x.Single(); c != nil && c.Kind == mcp.KindResponse {
		x.ID = nil // an answer to a response has no id
	}
	if refusal := mcp.ClassifyStrictly(&x.Message, x.HTTP.Header); refusal != nil {
		return refusal
	}
	x.answerInArray()
	for i := range x.Message.Calls {
		c := &x.Message.Calls[i]
		if !x.Endpoint.FirstDraft {
			c.IgnoreDraft()
		}
		if len(c.ID) > maxRequestID {
			x.ID = nil // nobody is told what is not to be kept
			return fault.LongID
		}
		if c.Method == mcp.MethodListen && x.Message.Batch {
			return fault.ListenInBatch
		}
		if refusal := c.CheckTarget(); refusal != nil {
			return refusal
		}
		if err := x.checkTaskIDs(c); err != nil {
			return err
		}
	}
	return nil
}

// answerInArray has a refusal of a batch of one be the answer to its call, and so the one
// member of an array (JSON-RPC 2.0, 6). What has several calls is refused as a whole.
func (x Arrival) answerInArray() {
	if calls := x.Message.Calls; x.Message.Batch && len(calls) == 1 && calls[0].Kind == mcp.KindRequest {
		x.ID, x.InArray = calls[0].ID, true
	}
}

// checkTaskIDs refuses ids that no task can have, without looking for them.
func (x Arrival) checkTaskIDs(c *mcp.Call) error {
	limit := x.Settings.LongestTaskID
	switch {
	case c.IsTask() && c.CheckTaskID(limit) != nil:
		return mcp.ErrTaskID
	case c.MakesTask() && c.CheckNewTaskID(limit) != nil:
		return mcp.ErrInvalidTaskID
	}
	return nil
}

// FindSession reads the session, which counts in the legacy era only. With it all is known that the plan goes by.
func (x Arrival) FindSession() (err error) {
	if x.Era() == mcp.EraLegacy {
		err = x.findSession()
	}
	x.plan()
	return err
}

func (x Arrival) findSession() error {
	id, n := x.HTTP.Header.First(mcp.HeaderSession)
	if n > 1 {
		return fault.SeveralSessions
	}
	if n == 1 {
		x.Session = wire.Trim(id)
	}
	if !isFitForSession(x.Session, x.Settings.Limits.SessionID) {
		return routing.ErrUnknownSession
	}
	return nil
}
