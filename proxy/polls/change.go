package polls

import (
	"context"
	"crypto/rand"
	"time"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/sticky"
)

// changing is the mark of a change that is under way. Any other is that of one change
// that was acknowledged.
const changing = "changing"

// Change is what one request changes: tasks, or all of a session. The zero Change is nothing.
type Change struct {
	shared *Shared
	call   *inbound.Call
	keys   []sticky.Key
}

// Change invalidates, for every berth, what c is about to change, so that no poll is given an
// answer from before. It does so as well as it can without the store: what is left then is
// in docs/dev/guarantees.md.
func (s *Shared) Change(c *inbound.Call) Change {
	change := Change{shared: s, call: c}
	for i := range c.Message.Calls {
		switch one := &c.Message.Calls[i]; {
		case one.Kind == mcp.KindResponse && c.Session != "":
			// It answers what a task asked for; which one it does not say.
			change.keys = append(change.keys, c.Endpoint.Router.SessionKey(c.Principal, c.Session))
		case one.Kind == mcp.KindRequest && one.IsTask() && !mcp.ReadsTask(one.Method):
			change.keys = append(change.keys, c.Endpoint.Router.TaskKey(c.Principal, one.TaskID))
		}
	}
	if len(change.keys) > 0 {
		change.mark(changing, "", markLife+c.Patience)
	}
	return change
}

// Done invalidates anew what was changed, before the client learns of it: polls that begin
// from now on see the change, and may share answers again.
func (c Change) Done() {
	if len(c.keys) > 0 {
		mark := rand.Text()
		c.mark(mark, mark, markLife)
	}
}

// mark writes mark for what changes, to the store and, as own, to this process.
func (c Change) mark(mark, own string, life time.Duration) {
	ctx, cancel := c.call.Recording()
	defer cancel()
	for _, key := range c.keys {
		c.shared.invalidate(key, own)
		if err := c.call.Endpoint.Router.Bindings.Mark(ctx, key.Change(), mark, life); err != nil {
			c.shared.log.Debug("a change could not be marked", "kind", string(key.Kind), "error", err)
		}
	}
}

// invalidate notes that what key names, a task or a session, is being changed, or, with a
// mark, that it was: nobody who comes from now on is given what was asked for before.
func (s *Shared) invalidate(key sticky.Key, mark string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if key.Kind == sticky.Session {
		s.dropSession(key)
	}
	s.dropTask(key)
	delete(s.marks, key)
	if mark == "" {
		return
	}
	s.marks[key] = mark
	time.AfterFunc(markLife, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.marks[key] == mark {
			delete(s.marks, key)
		}
	})
}

// dropSession lets nobody join the polls of a session any more. Callers hold the lock.
func (s *Shared) dropSession(session sticky.Key) {
	for p := range s.alone.all() {
		if p.session == session {
			s.drop(p)
		}
	}
	for _, like := range s.like {
		for _, p := range like {
			if p.session == session {
				s.drop(p)
			}
		}
	}
}

// joinMarks returns the marks of what p depends on, as one; "" if there are none.
func (p *Poll) joinMarks(of func(sticky.Key) string) string {
	mark := of(p.task)
	if p.session.Kind != "" {
		if own := of(p.session); own != "" {
			mark += "/" + own
		}
	}
	return mark
}

// markPatience is how long a poll waits to learn whether it may share an answer: where
// the store is slower, asking the owner is the shorter way.
const markPatience = 25 * time.Millisecond

// lastMark returns the mark of the last change of what p depends on, "" if there was none of
// late. known is false if a change is under way, or if the store cannot tell in time.
func (p *Poll) lastMark(ctx context.Context) (mark string, known bool) {
	type told struct {
		mark  string
		known bool
	}
	answer := make(chan told, 1) // nobody waits for one who comes late
	bindings := p.call.Endpoint.Router.Bindings
	go func() {
		t := told{known: true}
		t.mark = p.joinMarks(func(k sticky.Key) string {
			m, err := bindings.MarkOf(ctx, k.Change())
			t.known = t.known && err == nil && m != changing
			return m
		})
		answer <- t
	}()
	patience := time.NewTimer(markPatience)
	defer patience.Stop()
	select {
	case t := <-answer:
		return t.mark, t.known
	case <-patience.C:
		return "", false
	}
}
