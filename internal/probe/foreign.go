package probe

import (
	"context"

	"berth/internal/client"
	"berth/internal/mcp"
)

// foreign looks as the second principal for what is the first's: a task of the modern
// era, a legacy session, which holds what tasks were made in it.
func (r *run) foreign(ctx context.Context) {
	if len(r.options.Principals) < 2 {
		return
	}
	second := r.options.Principals[1]
	task := r.foreignTask(ctx, second)
	session := r.foreignSession(ctx, second)
	if task || session {
		return
	}
	r.blind = true
	r.skip("", checkForeign, "the first principal has neither a task nor a session")
}

// foreignTask makes a task as the first principal and polls it as the second. Instances
// that do not know it deny it whoever asks, so it is asked for several times.
func (r *run) foreignTask(ctx context.Context, second map[string][]string) bool {
	if !r.madeTasks(client.Modern) {
		return false
	}
	tasks := r.makeTasks(ctx, []scope{{version: client.Modern}})
	if len(tasks) == 0 {
		return false
	}
	t := tasks[0]
	s := t.scope
	s.header = second
	for range foreignLooks {
		answered := r.wire.request(ctx, s, mcp.MethodGetTask, t.params())
		seen := answered.judge() == held
		if seen {
			now, ok := client.ReadTask(answered.answer.Result)
			seen = ok && now.ID == t.ID
		}
		r.bookForeign(client.Modern, answered, seen)
	}
	return true
}

// foreignSession opens a session as the first principal and uses it as the second.
func (r *run) foreignSession(ctx context.Context, second map[string][]string) bool {
	if len(r.sessions) == 0 {
		return false
	}
	_, shook := r.initialize(ctx, scope{})
	if shook == nil || shook.session == nil {
		return false
	}
	r.wire.notify(ctx, shook.session.scope, mcp.MethodInitialized)
	s := shook.session.scope
	s.header = second
	for range foreignLooks {
		answered := r.wire.request(ctx, s, mcp.MethodPing, nil)
		r.bookForeign(shook.Version, answered, answered.judge() == held)
	}
	return true
}

// bookForeign books what the second principal was answered. A denial is right.
func (l *ledger) bookForeign(revision string, answered reply, seen bool) {
	if answered.unsent {
		return
	}
	c := l.check(revision, checkForeign)
	c.Asked++
	switch {
	case seen:
		c.Leaked++
		c.Example = "shown to the second principal"
	case answered.judge() == failed && !answered.forbids():
		c.Failed++
		if c.Example == "" {
			c.Example = l.text(answered.String())
		}
	}
}
