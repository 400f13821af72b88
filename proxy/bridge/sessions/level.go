package sessions

import (
	"context"

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
	l.setting.Lock()
	defer l.setting.Unlock()
	if l.level >= 0 && l.level <= level {
		return
	}
	if _, err := l.Ask(ctx, out, mcp.MethodSetLevel, map[string]any{"level": named}); err == nil {
		l.level = level
	}
}
