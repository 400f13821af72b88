package proxy

import (
	"fmt"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/sticky"
)

// seenKey names what this caller may be told again of a task. A principal is the
// same with a fresh token; of nobody only equal credentials are.
func (x *request) seenKey(task sticky.Key) seenKey {
	key := seenKey{task: task}
	if x.Principal == "" {
		key.credential = x.Credential
	}
	return key
}

// serveLastSeen answers in place of an owner that has not answered for silentFor
// (0: since when is not known, so that the age of what was seen counts): with the
// task's end if that was seen, or, for a poll within the owner's grace, with the
// task as it was last seen. It reports whether it did.
func (x *request) serveLastSeen(silentFor time.Duration) bool {
	if x.serveTerminal() {
		return true
	}
	c := x.Single()
	if c.Method != mcp.MethodGetTask || !x.MayPoll() {
		return false
	}
	t, ok := x.p.seen.get(x.seenKey(x.TaskKey()))
	if !ok || t.poll == nil || silentFor > x.Endpoint.OwnerGrace {
		return false
	}
	if silentFor == 0 && time.Since(t.at) > x.Endpoint.OwnerGrace {
		return false
	}
	message := fmt.Sprintf("The server instance that holds this task does not answer; this is its state of %s.", t.at.UTC().Format(time.RFC3339))
	x.serveSeen(mcp.Response(c.ID, mcp.WithStatusMessage(t.poll, message)))
	return true
}

// serveTerminal answers with the end of a task that was seen.
func (x *request) serveTerminal() bool {
	body := x.terminal()
	if body == nil {
		return false
	}
	x.serveSeen(body)
	return true
}

// terminal returns the answer that the task's end, if it was seen, gives to this
// call; nil if there is none.
func (x *request) terminal() []byte {
	c := x.Single()
	t, ok := x.p.seen.get(x.seenKey(x.TaskKey()))
	if !ok || !x.MayPoll() {
		return nil
	}
	switch {
	case c.Method == mcp.MethodGetTask && t.ended:
		return mcp.Response(c.ID, t.poll)
	case c.Method == mcp.MethodTaskResult && c.Era == mcp.EraLegacy && t.outcome != nil:
		return mcp.Response(c.ID, t.outcome)
	}
	return nil
}

func (x *request) serveSeen(body []byte) {
	x.decision.Source = sourceLastSeen
	x.out.Respond(wire.StatusOK, body)
}

// sourceLastSeen marks access records of answers that berth gave in an owner's
// place.
const sourceLastSeen sticky.Source = "last_seen"
