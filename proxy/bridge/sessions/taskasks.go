package sessions

import (
	"bytes"
	"context"
	"slices"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/mcp/taskwire"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/rounds"
)

// taskQuestion is under which id a task has asked something on the session's own stream.
type taskQuestion struct {
	core string
	id   []byte
}

// maxAsked bounds how many of them are remembered.
const maxAsked = 4 * inquiry.MaxInputs

// AskTask has a question that is put to no call be the task's that core names. "": it is refused.
func (l *Session) AskTask(ctx context.Context, out *exchange.Request, core string, id, message []byte) {
	refusal := inquiry.Unaskable(message)
	if core == "" || l.registry.settings().Isolation == ForAll && asksForRoots(message) { // roots would be others' as well
		refusal = rounds.ErrNobodyAsked
	}
	if refusal != nil {
		_ = l.Tell(ctx, out, mcp.ErrorResponse(id, refusal.Object()))
		return
	}
	l.taskAsks(ctx, out, core, id, message)
}

func asksForRoots(message []byte) bool {
	a, err := mcp.PeekAnswer(message, false)
	return err == nil && a.Method == inquiry.MethodListRoots
}

// taskAsks notes what a task asks.
func (l *Session) taskAsks(ctx context.Context, out *exchange.Request, core string, id, message []byte) {
	l.registry.mu.Lock()
	if len(l.asked) == maxAsked {
		l.asked = slices.Delete(l.asked, 0, 1)
	}
	l.asked = append(l.asked, taskQuestion{core, bytes.Clone(id)})
	l.registry.mu.Unlock()
	l.registry.around.TaskAsks(ctx, out, l, core, id, message)
}

// withdraw has nobody asked any more what the server wants no answer to: the next call, or a task.
func (l *Session) withdraw(ctx context.Context, id []byte) {
	l.registry.mu.Lock()
	l.early.withdraw(id)
	i := slices.IndexFunc(l.asked, func(q taskQuestion) bool { return mcp.SameID(q.id, id) })
	if i < 0 {
		l.registry.mu.Unlock()
		return
	}
	q := l.asked[i]
	l.asked = slices.Delete(l.asked, i, i+1)
	l.registry.mu.Unlock()
	l.registry.around.TaskWithdraws(ctx, l, q.core, q.id)
}

// askingTask is the one task that may ask in the session: that alone lives there, or that alone has not ended by what its server says. "": there is
// none, or it could be any of several.
func (l *Session) askingTask(ctx context.Context, out *exchange.Request) string {
	l.registry.mu.Lock()
	cores, known := l.tasks.living()
	l.registry.mu.Unlock()
	switch {
	case !known || len(cores) == 0 || len(cores) > maxLooked:
		return ""
	case len(cores) > 1 && l.registry.settings().Isolation != ForAll:
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		cores = slices.DeleteFunc(cores, func(core string) bool { return hasEnded(ctx, &l.Session, out, core) })
	}
	if len(cores) != 1 {
		return ""
	}
	return cores[0]
}

const (
	// maxLooked bounds how many tasks are asked for whose question one may be, and lookTime for how long: the session's own stream waits.
	maxLooked = 8
	lookTime  = 2 * time.Second
)

// hasEnded reports whether the server says that a task has ended.
func hasEnded(ctx context.Context, in *legacy.Session, out *exchange.Request, core string) bool {
	result, err := in.Ask(ctx, out, mcp.MethodGetTask, map[string]any{"taskId": core})
	if err != nil {
		return false
	}
	v, err := taskwire.ReadCore(result)
	return err == nil && v.ID == core && v.Terminal()
}

// Over is Leave of a call that has ended. What was asked on the session's own stream meanwhile, and was put to nobody, is of the task that
// the call has become, which core names, or with "" refused.
func (l *Session) Over(fl *flow.Flow, core string) {
	l.Leave(fl)
	var asked questions
	for _, it := range fl.TakeInbox() {
		switch {
		case it.Answer.Method == mcp.MethodCancelled:
			asked.withdraw(mcp.CancelledID(it.Message))
		case it.Answer.ID != nil:
			asked = append(asked, it)
		}
	}
	if len(asked) == 0 {
		return
	}
	go func() {
		for _, it := range asked {
			l.AskTask(context.Background(), l.name(), core, it.Answer.ID, it.Message)
		}
	}()
}
