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
// comes late, is none of a task's. named says that the task is to be named, as far as the store knows it.
func (s *Sessions) Answered(way outbound.Way, at *routing.Decision, status int, named bool) (task string) {
	if status/100 != 2 || !way.IsResponse() || !s.MayHold(way, at) {
		return ""
	}
	id := mcp.ID(way.Body) // a tag may be off by now
	if id == nil {
		return ""
	}
	ctx, cancel := way.Recording()
	defer cancel()
	if named {
		task, _ = s.tasks.AskedIn(ctx, way.Behind(), id)
	}
	s.tasks.SettleIn(ctx, way.Behind(), id)
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
	id, err := s.tasks.AskedIn(ctx, way.Behind(), answered)
	if err != nil || id == "" {
		return nil
	}
	task, err := s.tasks.Peek(ctx, id, way.Asker())
	if err != nil {
		return nil
	}
	return s.callers.Caller(way).MayAsk(ctx, task)
}
