package sessions

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/offer"
)

// SetLevel has the session say as much as a client wants to hear. A server that
// does not take it says what it says. "" wants nothing.
func (l *Session) SetLevel(ctx context.Context, out *exchange.Request, named string) {
	level := mcp.Severity(named)
	if level < 0 || !offer.HasCapability(l.Result, "logging") {
		return
	}
	select {
	case l.setting <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-l.setting }()
	if l.level >= 0 && l.level <= level || time.Since(l.silent) < setAgain {
		return
	}
	_, err := l.Ask(ctx, out, mcp.MethodSetLevel, map[string]any{"level": named})
	_, unanswered := errors.AsType[*exchange.SendError](err)
	switch {
	case err == nil:
		l.level = level
	case unanswered && ctx.Err() == nil:
		l.silent = time.Now()
	}
}

// setAgain is how long a server that has not answered is not asked to set a level: calls wait for that.
const setAgain = time.Minute
