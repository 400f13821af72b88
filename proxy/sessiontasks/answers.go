package sessiontasks

import (
	"context"

	"berth/internal/mcp"
	"berth/proxy/outbound"
	"berth/routing"
)

// Answered notes that the upstream has taken a client's response to what a held call asks,
// before the client learns so: from then on nobody is asked for it again. A response that the
// upstream did not take, as status says, leaves the ask open. What answers something else, or
// comes late, is none of a task's.
func (s *Sessions) Answered(way outbound.Way, at *routing.Decision, status int) {
	if status/100 != 2 || !way.IsResponse() || !s.MayHold(way, at) {
		return
	}
	id := mcp.ID(way.Body) // a tag may be off by now
	if id == nil {
		return
	}
	ctx, cancel := way.Recording()
	defer cancel()
	s.held.SettleIn(ctx, way.Behind(), id)
}

// Asking is the task that waits for the client's response, "" if none does or the store cannot say. Ask
// before the response is sent: its tool may be through with it a moment later.
func (s *Sessions) Asking(ctx context.Context, way outbound.Way, at *routing.Decision) (task string) {
	if !way.IsResponse() || !s.MayHold(way, at) {
		return ""
	}
	if id := mcp.ID(way.Body); id != nil {
		task, _ = s.held.AskedIn(ctx, way.Behind(), id)
	}
	return task
}

// MayReply refuses a client's response to what a held call asks whose task the client may not
// ask for. What answers something else is its upstream's to judge, and so is everything while
// the store is away.
func (s *Sessions) MayReply(ctx context.Context, way outbound.Way, at *routing.Decision) error {
	if !way.IsResponse() || way.Principal != "" || !s.MayHold(way, at) {
		return nil
	}
	answered := mcp.ID(way.Body)
	if answered == nil {
		return nil
	}
	id, err := s.held.AskedIn(ctx, way.Behind(), answered)
	if err != nil || id == "" {
		return nil
	}
	task, err := s.tasks.Peek(ctx, id, way.Asker())
	if err != nil {
		return nil
	}
	return s.callers.Caller(way).MayAsk(ctx, task)
}
