package upgrade

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
)

// overLife is how long a session that was ended is known to have been. Its upstream has
// forgotten it long before.
const overLife = 24 * time.Hour

// addTask lists a task where it can be found without its id: as its principal's, and in the
// session that its call lives in.
func (l *Ledger) addTask(ctx context.Context, t *task.Task, life time.Duration) error {
	if l.alone() {
		if err := l.lists.add(ctx, l.lists.all(), t.ID, life+spare, 0); err != nil {
			return err
		}
	}
	if t.Principal != "" {
		if err := l.lists.add(ctx, l.lists.madeBy(t.Pool, t.Principal), t.ID, life+spare, 0); err != nil {
			return err
		}
	}
	if t.Session == "" {
		return nil
	}
	return l.lists.add(ctx, l.lists.heldIn(t.Session), t.ID, life+spare, 0)
}

// Mine returns the ids of a principal's tasks in a pool that have not expired, in the order
// in which they will. The error wraps storage.ErrUnavailable.
func (s Sessions) Mine(ctx context.Context, pool, principal string) ([]string, error) {
	return s.lists.store.Members(ctx, s.lists.madeBy(pool, principal))
}

// InSession returns the ids of the tasks whose calls are held in a session. The error
// wraps storage.ErrUnavailable.
func (s Sessions) InSession(ctx context.Context, session string) ([]string, error) {
	return s.lists.store.Members(ctx, s.lists.heldIn(session))
}

// holds reports whether a call is held in a session. What is listed and is none was left
// by a berth that died while it made a task, or took the end of one down.
func (s Sessions) holds(ctx context.Context, session string) (bool, error) {
	listed, err := s.InSession(ctx, session)
	for _, id := range listed {
		e, err := s.records.get(ctx, id)
		if err == nil && !e.State.Terminal() {
			return true, nil
		}
		if err != nil && !errors.Is(err, ErrUnknown) {
			return false, err
		}
	}
	return false, err
}

// EndSession marks a session as ended if calls are held in it, which reports held: then
// its upstream is told so once the last of them is over. asks are what is to be refused in
// the client's name, in the upstream's session that behind names. Without any call there is
// no mark, and the end is the upstream's to acknowledge at once. The error wraps
// storage.ErrUnavailable.
func (t *Tasks) EndSession(ctx context.Context, session, behind string) (asks []OpenAsk, held bool, err error) {
	if held, err = t.ledger.sessions.holds(ctx, session); err != nil || !held {
		return nil, false, err
	}
	if _, _, err := t.ledger.store.PutIfAbsent(ctx, overKey(session), []byte("over"), overLife); err != nil {
		return nil, false, err
	}
	t.ledger.notices.tell(ctx, sessionTopic(session))
	// A call may have been over before the mark could be seen: then nobody else tells.
	if held, err = t.ledger.sessions.holds(ctx, session); err != nil || !held {
		return nil, false, err
	}
	t.runner.metrics.sessionEnd(ctx, "held")
	asks, err = t.ledger.asks.open(ctx, behind)
	return asks, true, err
}

// Sessions are the sessions of clients in which calls are held.
type Sessions struct {
	lists   lists
	records records
	notices *notices
}

// SessionOver reports whether a session was ended by its client. The error wraps
// storage.ErrUnavailable.
func (s Sessions) SessionOver(ctx context.Context, session string) (bool, error) {
	_, err := s.lists.store.Get(ctx, overKey(session))
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// ReviveSession takes back that a session has ended: its id was handed out again. The error
// wraps storage.ErrUnavailable.
func (s Sessions) ReviveSession(ctx context.Context, session string) error {
	return s.lists.store.Delete(ctx, overKey(session))
}

// WatchSession returns a channel that holds a wake-up when something of a session's tasks
// may have changed, or the session has ended, until stop is called. Wake-ups may be lost
// between berths: look at the poll interval, too.
func (s Sessions) WatchSession(session string) (woken <-chan struct{}, stop func()) {
	return s.notices.watch(sessionTopic(session))
}

// leaveSession notes that a call is over that was held in a session: what it asked is open
// no more. The last one of a session that its client has ended takes it down at the
// upstream. It fails while the store does not take that, and may be repeated.
func (r *Runner) leaveSession(ctx context.Context, t *task.Task, c *task.Call) error {
	if t.Session == "" {
		return nil
	}
	if err := r.ledger.asks.close(ctx, t); err != nil {
		return err
	}
	if err := r.ledger.store.Delist(ctx, r.ledger.lists.heldIn(t.Session), t.ID); err != nil {
		return err
	}
	over, err := r.ledger.sessions.SessionOver(ctx, t.Session)
	if err != nil || !over || c == nil {
		return err
	}
	if held, err := r.ledger.sessions.holds(ctx, t.Session); err != nil || held {
		return err
	}
	pool, u := r.pools[t.Pool], r.upstreamOf(t)
	if pool == nil || pool.Transport.End == nil || u == nil {
		return nil
	}
	if err := pool.Transport.End(ctx, u, c); err != nil {
		r.metrics.sessionEnd(ctx, "failed")
		r.log.Debug("a session that has ended could not be ended at its upstream", "upstream", u.Name, "error", err)
		return nil
	}
	r.metrics.sessionEnd(ctx, "told")
	return nil
}
