package sessions

import (
	"context"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/proxy/bridge/flow"
)

// hears does what a message of a session's means that came on no call's stream. A question is put to
// the call that was begun last, and waits for the next one where there is none, unless it is a task's.
func (l *Session) hears(ctx context.Context, out *exchange.Request, message []byte) {
	a, err := mcp.PeekAnswer(message, false)
	switch {
	case err != nil || a.Method == "":
	case a.Method == mcp.MethodPing && a.ID != nil:
		_ = l.Tell(ctx, out, mcp.Response(a.ID, []byte("{}")))
	case a.ID != nil:
		if core := mcp.RelatedTask(message); core != "" {
			l.taskAsks(ctx, out, core, a.ID, message)
			return
		}
		it := flow.Item{Message: message, Answer: a, Aside: true}
		switch taken, doubtful := l.askCall(it); {
		case taken:
		case doubtful:
			l.AskTask(ctx, out, "", a.ID, message)
		case !l.keepAsked(it):
			l.AskTask(ctx, out, l.askingTask(ctx, out), a.ID, message)
		}
	default:
		if a.Method == mcp.MethodCancelled {
			l.withdraw(ctx, mcp.CancelledID(message))
		}
		if a.Method == mcp.MethodToolsChanged {
			l.registry.around.ToolsChanged()
		}
		l.registry.mu.Lock()
		defer l.registry.mu.Unlock()
		if (a.Method == mcp.MethodLog && l.alone || a.Method == mcp.MethodCancelled) && l.asker != nil {
			l.asker.Hear(flow.Item{Message: message, Answer: a, Aside: true}) // of the one call there
		}
		l.spread(message)
	}
}

// askCall puts a question to the call that was begun last, if that may be asked. doubtful: it could be a task's of another caller.
func (l *Session) askCall(it flow.Item) (taken, doubtful bool) {
	forAll := l.registry.settings().Isolation == ForAll
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.noteEarly(it.Answer.Method)
	switch {
	case l.asker == nil || !l.asker.Asks:
		return false, false
	case forAll && l.tasks.untold():
		return false, true
	}
	return l.asker.Hear(it), false
}

// Spread has those who listen by the session hear a notification that came on a call's stream: servers tell of what has changed on
// whichever stream they have at hand.
func (l *Session) Spread(message []byte) {
	l.registry.mu.Lock()
	defer l.registry.mu.Unlock()
	l.spread(message)
}

// spread is Spread for who holds Registry.mu.
func (l *Session) spread(message []byte) {
	if l.shelf == nil {
		return
	}
	for li := range l.registry.listeners[l.shelf.whose] {
		li.Hear(l, message)
	}
}
