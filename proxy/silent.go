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
	if x.principal == "" {
		key.credential = x.credential
	}
	return key
}

// taskKey is the key of the task that the call is about.
func (x *request) taskKey() sticky.Key {
	return x.endpoint.Router.TaskKey(x.principal, x.call().TaskID)
}

// serveLastSeen answers in place of an owner that has not answered for silentFor
// (0: since when is not known, so that the age of what was seen counts): with the
// task's end if that was seen, or, for a poll within the owner's grace, with the
// task as it was last seen. It reports whether it did.
func (x *request) serveLastSeen(silentFor time.Duration) bool {
	if x.serveTerminal() {
		return true
	}
	c := x.call()
	if c.Method != mcp.MethodGetTask || !x.mayPoll() {
		return false
	}
	t, ok := x.p.seen.get(x.seenKey(x.taskKey()))
	if !ok || t.poll == nil || silentFor > x.endpoint.OwnerGrace {
		return false
	}
	if silentFor == 0 && time.Since(t.at) > x.endpoint.OwnerGrace {
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
	c := x.call()
	t, ok := x.p.seen.get(x.seenKey(x.taskKey()))
	if !ok || !x.mayPoll() {
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

// mayPoll: what is served in an owner's place goes by the same rule that the
// owner would apply (Tasks extension, "Capability Negotiation").
func (x *request) mayPoll() bool {
	c := x.call()
	return c.Era == mcp.EraLegacy || c.DeclaresTasks
}

func (x *request) serveSeen(body []byte) {
	x.decision.Source = sourceLastSeen
	x.respond(wire.StatusOK, body)
}

// sourceLastSeen marks access records of answers that berth gave in an owner's
// place.
const sourceLastSeen sticky.Source = "last_seen"
