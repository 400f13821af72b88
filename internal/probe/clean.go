package probe

import (
	"context"
	"errors"
	"net/http"
	"time"

	"berth/internal/mcp"
	"berth/internal/timed"
)

// cleanLimit bounds the time of cleaning up, besides that of one request for each thing.
const cleanLimit = 30 * time.Second

// cleanUp cancels the tasks and ends the sessions that still are, as far as the URL lets
// these requests through. It keeps at each thing in turn: requests in a row come to
// another instance each where a balancer takes turns, and so soon to the right one.
func (r *run) cleanUp(ctx context.Context) {
	things := float64(len(r.tasks) + len(r.sessions))
	limit := cleanLimit + time.Duration(things/r.options.Rate*float64(time.Second))
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTime)
	defer cancel()
	r.wire.most += r.options.maxCleaning()
	if !r.mayCleanUp(ctx) {
		return
	}
	for _, t := range r.tasks {
		for range cleanAttempts {
			r.drop(ctx, t)
		}
	}
	for _, s := range r.sessions {
		for range cleanAttempts {
			r.dropSession(ctx, s)
		}
	}
}

// mayCleanUp reports whether more may be sent. Who asked to slow down is waited for; who
// did not answer is asked once more.
func (r *run) mayCleanUp(ctx context.Context) bool {
	switch {
	case errors.Is(r.wire.halt, errUnauthorized):
		return false
	case errors.Is(r.wire.halt, errThrottled) && r.wire.wait > longestWait:
		return false
	case errors.Is(r.wire.halt, errThrottled) && r.left().any():
		_ = timed.Sleep(ctx, r.wire.wait)
	}
	r.wire.halt = nil
	return true
}

func (r *run) drop(ctx context.Context, t *task) {
	if t.over || t.expired() {
		return
	}
	answered := r.wire.request(ctx, t.scope, mcp.MethodCancelTask, t.params())
	t.over = answered.judge() == held || answered.tooLate()
}

func (r *run) dropSession(ctx context.Context, s *session) {
	if s.ended || s.endless {
		return
	}
	answered := r.wire.bare(ctx, s.scope, http.MethodDelete)
	s.ended = answered.judge() == held
	s.endless = answered.noMethod()
}

// Left is what a run left behind.
type Left struct {
	Tasks    int `json:"tasks"`    // not known to have ended or to be cancelled; they end by their own time to live
	Sessions int `json:"sessions"` // not ended
	Unknown  int `json:"unknown"`  // tool calls without an answer: each may have made a task
}

func (l Left) any() bool { return l != Left{} }

func (r *run) left() Left {
	left := Left{Unknown: r.unknown}
	for _, t := range r.tasks {
		if !t.over && !t.expired() {
			left.Tasks++
		}
	}
	for _, s := range r.sessions {
		if !s.ended {
			left.Sessions++
		}
	}
	return left
}
