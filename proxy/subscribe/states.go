package subscribe

import (
	"context"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/proxy/reply"
	"berth/routing"
	"berth/sticky"

	"golang.org/x/sync/errgroup"
)

// Bounds of asking for the states of a leg's tasks.
const (
	statesAtOnce  = 4
	statePatience = 2 * time.Second
)

// states is what a subscription's client knows of the tasks of one leg. It is for one
// goroutine.
type states map[string]*state

type state struct {
	status string // as the client was last told, by whichever berth; "" if nobody knows
	ended  bool   // it was told of the task's end, on this stream
}

func newStates(tasks []routing.Listened) states {
	s := make(states, len(tasks))
	for _, task := range tasks {
		s[task.ID] = &state{status: task.Binding.Status}
	}
	return s
}

// note takes note of what the client is about to be told, and reports whether it may
// be: after a task's end nothing else is said of it. What still comes was overtaken.
func (s states) note(task mcp.Task) bool {
	known := s[task.ID]
	if known == nil || task.Status == "" {
		return true // about no task of this leg: the upstream's affair
	}
	if known.ended {
		return false
	}
	known.status, known.ended = task.Status, task.Terminal()
	return true
}

// moved reports whether the client has not been told of the task's state. Of an end it
// is told on each stream: nothing else would ever come there.
func (s states) moved(task mcp.Task) bool {
	known := s[task.ID]
	return !known.ended && (task.Terminal() || task.Status != known.status)
}

// passStates tells the client of those tasks that moved before the leg stood, or while
// it was lost.
func (g *leg) passStates(ctx context.Context, u *routing.Upstream, agreed []string) error {
	answers := make([]mcp.Answer, len(g.tasks))
	var group errgroup.Group
	group.SetLimit(statesAtOnce)
	for i, task := range g.tasks {
		if slices.Contains(agreed, task.ID) && !g.states[task.ID].ended {
			group.Go(func() error {
				answers[i] = g.l.stateOf(ctx, u, task.ID)
				return nil
			})
		}
	}
	_ = group.Wait() // a state that is not to be had is left to the client's polls
	for _, a := range answers {
		if err := g.passState(ctx, a); err != nil {
			return err
		}
	}
	return nil
}

func (g *leg) passState(ctx context.Context, a mcp.Answer) error {
	if a.Result == nil || !g.states.moved(a.Task) {
		return nil
	}
	notification := mcp.TaskNotification(g.l.ID, a.Result)
	if notification == nil {
		return nil
	}
	g.states.note(a.Task)
	if err := g.pass(ctx, reply.Event(notification)); err != nil {
		return err
	}
	g.told(a.Task)
	return nil
}

// told notes that the client has been told of a task, with the result if it has ended.
func (g *leg) told(task mcp.Task) {
	if !task.Terminal() || g.states[task.ID] == nil {
		return
	}
	if !slices.ContainsFunc(g.tasks, func(of routing.Listened) bool { return !g.states[of.ID].ended }) {
		g.ended.Store(true)
	}
	for _, of := range g.tasks {
		if of.ID == task.ID {
			g.l.noteTold(task, of.Binding.Upstream)
			g.l.Endpoint.Router.Observe(of.Key, &of.Binding, sticky.Seen{At: time.Now(), Status: task.Status, Ended: true, Given: true})
		}
	}
}

// noteTold has the audit log say that the client has the result of a server's task.
func (l *Subscription) noteTold(task mcp.Task, upstream string) {
	if task.Status != "cancelled" {
		l.all.Reporter.ToldOnStream(l.Call, task.ID, upstream, "")
	}
}

// stateOf polls a task in the client's name. The zero Answer is one that is not to be
// had.
func (r *Request) stateOf(ctx context.Context, u *routing.Upstream, taskID string) mcp.Answer {
	ctx, cancel := context.WithTimeout(ctx, statePatience)
	defer cancel()
	_, a, err := r.Ask(ctx, u, mcp.MethodGetTask, taskID)
	if err != nil || a.Task.ID != taskID {
		return mcp.Answer{}
	}
	return a
}
