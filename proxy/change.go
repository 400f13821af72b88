package proxy

import (
	"crypto/rand"
	"time"

	"berth/internal/mcp"
	"berth/sticky"
)

// changing is the mark of a change that is under way. Any other is that of one change
// that was acknowledged.
const changing = "changing"

// beginChange marks, for every berth, what the request is about to change, so that no poll is
// given an answer from before. The request goes on without the store, too: what is
// left then is in docs/guarantees.md.
func (x *request) beginChange() {
	for i := range x.Message.Calls {
		switch c := &x.Message.Calls[i]; {
		case c.Kind == mcp.KindResponse && x.Session != "":
			// It answers what a task asked for; which one it does not say.
			x.changes = append(x.changes, x.Endpoint.Router.SessionKey(x.Principal, x.Session))
		case c.Kind == mcp.KindRequest && c.IsTask() && !mcp.ReadsTask(c.Method):
			x.changes = append(x.changes, x.Endpoint.Router.TaskKey(x.Principal, c.TaskID))
		}
	}
	x.markChanges(changing, "", markLife+x.Patience())
}

// endChange marks anew what the request has changed, before the client learns of it: polls
// that begin from now on see the change, and may share answers again.
func (x *request) endChange() {
	if len(x.changes) > 0 {
		mark := rand.Text()
		x.markChanges(mark, mark, markLife)
	}
}

// markChanges writes mark for what the request changes, to the store and, as own, to this
// process' flights.
func (x *request) markChanges(mark, own string, life time.Duration) {
	if len(x.changes) == 0 {
		return
	}
	ctx, cancel := x.Recording()
	defer cancel()
	for _, key := range x.changes {
		x.p.flights.invalidate(key, own)
		if err := x.Endpoint.Router.Bindings.Mark(ctx, key.Change(), mark, life); err != nil {
			x.p.log.Debug("a change could not be marked", "kind", string(key.Kind), "error", err)
		}
	}
}

// markPatience is how long a poll waits to learn whether it may share an answer: where
// the store is slower, asking the owner is the shorter way.
const markPatience = 25 * time.Millisecond

// lastMark returns the mark of the last change of what key's polls depend on, "" if
// there was none of late. known is false if a change is under way, or if the store
// cannot tell in time.
func (x *request) lastMark(key flightKey) (mark string, known bool) {
	type told struct {
		mark  string
		known bool
	}
	answer := make(chan told, 1) // nobody waits for one who comes late
	ctx, bindings := x.ctx, x.Endpoint.Router.Bindings
	go func() {
		t := told{known: true}
		t.mark = joinMarks(key, func(k sticky.Key) string {
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
