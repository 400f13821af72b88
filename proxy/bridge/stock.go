package bridge

import (
	"context"
	"time"

	"berth/internal/exchange"
	"berth/proxy/bridge/coretasks"
	"berth/proxy/bridge/held"
	"berth/proxy/bridge/sessions"
	"berth/proxy/bridge/tools"
)

// stock is what is open at an upstream, and known of it, whichever list of its pool's that stands in. It implements
// sessions.Around.
type stock struct {
	sessions *sessions.Registry
	calls    *held.Calls // that wait for their clients
	notes    *coretasks.Notes
	support  coretasks.Support
	tools    tools.Known
}

func newStock(b *Bridge) *stock {
	life := func() time.Duration { return b.options().Question }
	s := &stock{calls: held.New(life, b.options().Store, b.name, b.metrics.questions, b.word.await), notes: b.notes}
	s.sessions = sessions.NewRegistry(func() sessions.Settings {
		o := b.options()
		return sessions.Settings{Isolation: o.Isolation, Most: o.Sessions}
	}, s)
	return s
}

// isEmpty reports whether nothing is open at the upstream, nor waits for its client.
func (s *stock) isEmpty() bool { return s.sessions.IsEmpty() && s.calls.Size() == 0 }

// Opened implements sessions.Around.
func (s *stock) Opened(result []byte) { s.support.Note(result) }

// TaskAsks implements sessions.Around.
func (s *stock) TaskAsks(ctx context.Context, out *exchange.Request, l *sessions.Session, core string, id, message []byte) {
	s.notes.Asks(ctx, out, l, core, id, message)
}

// TaskWithdraws implements sessions.Around.
func (s *stock) TaskWithdraws(ctx context.Context, l *sessions.Session, core string, id []byte) {
	s.notes.Withdraws(ctx, l, core, id)
}

// ToolsChanged implements sessions.Around.
func (s *stock) ToolsChanged() { s.tools.NoteChanged() }

// GiveUpOldest implements sessions.Around.
func (s *stock) GiveUpOldest(on func(l *sessions.Session) bool) bool { return s.calls.GiveUpOldest(on) }
