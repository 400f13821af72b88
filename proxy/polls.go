package proxy

import (
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/reply"
	"berth/routing"
	"berth/sticky"
)

// Access records of what berth answers in an owner's place say so.
const (
	sourceCoalesced sticky.Source = "coalesced" // the answer to another poll
	sourceLastSeen  sticky.Source = "last_seen" // the task as it was last seen
)

// sharePoll gives a poll the answer to another one like it, and reports whether it did. Else
// the request goes to u: others may wait for its answer, as long as it leads.
func (x *request) sharePoll(u *routing.Upstream) (answered bool, err error) {
	if x.MovedFrom != "" {
		return false, nil // one that was sent elsewhere first leads already
	}
	room := x.memory.poll
	x.memory.poll = nil
	lead, answer, err := x.p.polls.Join(x.Ctx, x.Call, u.Name, room)
	if lead != nil {
		x.poll, x.Ctx = lead, lead
	}
	if answer == nil {
		return err != nil, err
	}
	x.Decision.Source, x.rec.Code = sourceCoalesced, answer.Code
	x.out.ReadBy(answer.Rule)
	x.out.Respond(wire.StatusOK, mcp.WithID(answer.Message, x.ID))
	return true, nil
}

// serveStale answers with what was seen of a task, and reports whether it did: nil is nothing.
func serveStale(at *routing.Decision, out *reply.Writer, seen []byte) bool {
	if seen == nil {
		return false
	}
	at.Source = sourceLastSeen
	out.Respond(wire.StatusOK, seen)
	return true
}
