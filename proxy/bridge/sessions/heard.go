package sessions

import (
	"context"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/proxy/bridge/flow"
	"berth/proxy/bridge/rounds"
)

// hears does what a message of a session's means that came on no call's stream. A question is put to
// the call that was begun last, and waits for the next one where there is none.
func (l *Session) hears(ctx context.Context, out *exchange.Request, message []byte) {
	a, err := mcp.PeekAnswer(message, false)
	switch {
	case err != nil || a.Method == "":
	case a.Method == mcp.MethodPing && a.ID != nil:
		_ = l.Tell(ctx, out, mcp.Response(a.ID, []byte("{}")))
	case a.ID != nil && mcp.RelatedTask(message) != "":
		l.pool.around.TaskAsks(ctx, out, l, a.ID, message)
	case a.ID != nil:
		l.pool.mu.Lock()
		asker := l.asker
		l.noteGreeting(a.Method)
		l.pool.mu.Unlock()
		it := flow.Item{Message: message, Answer: a, Aside: true}
		if (asker == nil || !asker.Asks || !asker.Hear(it)) && !l.keepAsked(it) {
			_ = l.Tell(ctx, out, mcp.ErrorResponse(a.ID, rounds.ErrNobodyAsked.Object()))
		}
	default:
		if a.Method == mcp.MethodToolsChanged {
			l.pool.around.ToolsChanged()
		}
		l.pool.mu.Lock()
		defer l.pool.mu.Unlock()
		if a.Method == mcp.MethodCancelled {
			l.withdrawEarly(mcp.CancelledID(message))
		}
		if (a.Method == mcp.MethodLog && l.alone || a.Method == mcp.MethodCancelled) && l.asker != nil {
			l.asker.Hear(flow.Item{Message: message, Answer: a, Aside: true}) // of the one call there
		}
		l.spread(message)
	}
}

// Spread has those who listen by the session hear a notification that came on a call's stream: servers tell of what has changed on
// whichever stream they have at hand.
func (l *Session) Spread(message []byte) {
	l.pool.mu.Lock()
	defer l.pool.mu.Unlock()
	l.spread(message)
}

// spread is Spread for who holds Pool.mu.
func (l *Session) spread(message []byte) {
	if l.shelf == nil {
		return
	}
	for li := range l.pool.listeners[l.shelf.whose] {
		li.Hear(l, message)
	}
}
