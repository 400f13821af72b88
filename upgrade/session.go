package upgrade

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
)

// SessionKey names a session of a client's in the store and in Task.Session. The store
// never sees what the client calls it.
func SessionKey(pool, principal, session string) string {
	return short("session", pool, principal, session)
}

// BehindKey names the session of an upstream's that stands behind a client's, which
// SessionKey names. One that has moved has had several, and each upstream counts what it
// asks from the beginning.
func BehindKey(session, upstreams string) string { return short("behind", session, upstreams) }

// overLife is how long a session that was ended is known to have been. Its upstream has
// forgotten it long before.
const overLife = 24 * time.Hour

// enrol lists a task where it can be found without its id: as its principal's, and in the
// session that its call lives in.
func (t *Tasks) enrol(ctx context.Context, task *Task, life time.Duration) error {
	if task.Principal != "" {
		if err := t.lists.enlist(ctx, t.lists.madeBy(task.Pool, task.Principal), task.ID, life+spare, 0); err != nil {
			return err
		}
	}
	if task.Session == "" {
		return nil
	}
	return t.lists.enlist(ctx, t.lists.heldIn(task.Session), task.ID, life+spare, 0)
}

// Mine returns the ids of a principal's tasks in a pool that have not expired, in the order
// in which they will. The error wraps storage.ErrUnavailable.
func (t *Tasks) Mine(ctx context.Context, pool, principal string) ([]string, error) {
	return t.store.Members(ctx, t.lists.madeBy(pool, principal))
}

// InSession returns the ids of the tasks whose calls are held in a session. The error
// wraps storage.ErrUnavailable.
func (t *Tasks) InSession(ctx context.Context, session string) ([]string, error) {
	return t.store.Members(ctx, t.lists.heldIn(session))
}

// holds reports whether a call is held in a session. What is listed and is none was left
// by a berth that died while it made a task, or took the end of one down.
func (t *Tasks) holds(ctx context.Context, session string) (bool, error) {
	listed, err := t.InSession(ctx, session)
	for _, id := range listed {
		e, err := t.records.get(ctx, id)
		if err == nil && !e.State.Terminal() {
			return true, nil
		}
		if err != nil && !errors.Is(err, ErrUnknown) {
			return false, err
		}
	}
	return false, err
}

// OpenAsk is a request of an upstream's that its client has not answered.
type OpenAsk struct {
	Task string
	ID   []byte // JSON-RPC id, as mcp.IDKey spells it
}

// askName is how an ask is listed.
func askName(task, id string) string { return task + " " + id }

// settled stands in the place of the task in the name of an ask that is open no more. No
// task has it for its id.
const settled = "-"

// settledLife is how long it is known that an ask was settled: a stream that is resumed
// may bring it again.
const settledLife = time.Hour

// strikeAsk notes that an ask of a task's is open no more.
func (t *Tasks) strikeAsk(ctx context.Context, task *Task, key string) error {
	list := t.lists.asksIn(task.Behind)
	if err := t.lists.enlist(ctx, list, askName(settled, key), settledLife, 0); err != nil {
		return err
	}
	return t.store.Delist(ctx, list, askName(task.ID, key))
}

// asked returns what was asked in an upstream's session, settled or not.
func (t *Tasks) asked(ctx context.Context, behind string) ([]OpenAsk, error) {
	listed, err := t.store.Members(ctx, t.lists.asksIn(behind))
	asked := make([]OpenAsk, 0, len(listed))
	for _, name := range listed {
		if task, id, ok := strings.Cut(name, " "); ok {
			asked = append(asked, OpenAsk{task, []byte(id)})
		}
	}
	return asked, err
}

// openIn returns what is waited for in an upstream's session.
func (t *Tasks) openIn(ctx context.Context, behind string) ([]OpenAsk, error) {
	asked, err := t.asked(ctx, behind)
	return slices.DeleteFunc(asked, func(ask OpenAsk) bool { return ask.Task == settled }), err
}

// askedBy returns the task in whose call an ask came, settled if it is open no more; "" if
// it did not come.
func (t *Tasks) askedBy(ctx context.Context, behind, key string) (task string, err error) {
	asked, err := t.asked(ctx, behind)
	for _, ask := range asked {
		if string(ask.ID) == key {
			return ask.Task, nil
		}
	}
	return "", err
}

// AskedIn returns the task whose upstream waits, in the session that BehindKey names, for
// the response with this raw id; "" if none does. The error wraps storage.ErrUnavailable.
func (t *Tasks) AskedIn(ctx context.Context, behind string, id []byte) (task string, err error) {
	open, err := t.openIn(ctx, behind)
	key := mcp.IDKey(id)
	for _, ask := range open {
		if string(ask.ID) == key {
			return ask.Task, nil
		}
	}
	return "", err
}

// Settle notes that the upstream has the answer to an ask. What the store does not take
// now is noted once it does: until then the ask may be shown once more, which does no
// harm.
func (t *Tasks) Settle(ctx context.Context, task string, id []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	op := t.op(Settle)
	op.Key = mcp.IDKey(id)
	settle := func(ctx context.Context) error { return t.settleAsk(ctx, task, op) }
	if settle(ctx) != nil {
		t.backlog.add(settle)
	}
}

func (t *Tasks) settleAsk(ctx context.Context, id string, op Op) error {
	e, err := t.records.get(ctx, id)
	if errors.Is(err, ErrUnknown) {
		err = t.miss(ctx)
	}
	if errors.Is(err, ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	apply := func() (entry, error) { return t.records.apply(ctx, e, op) }
	if h := t.custody.get(id); h != nil {
		apply = func() (entry, error) { return h.step(ctx, op) }
	}
	after, err := apply()
	if errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	t.changed(ctx, &after.Task)
	return t.strikeAsk(ctx, &e.Task, op.Key)
}

// EndSession marks a session as ended if calls are held in it, which reports held: then
// its upstream is told so once the last of them is over. asks are what is to be refused
// in the client's name, in the session that behind names. Without any there is no mark, and the end is the upstream's to
// acknowledge at once. The error wraps storage.ErrUnavailable.
func (t *Tasks) EndSession(ctx context.Context, session, behind string) (asks []OpenAsk, held bool, err error) {
	if held, err = t.holds(ctx, session); err != nil || !held {
		return nil, false, err
	}
	if _, _, err := t.store.PutIfAbsent(ctx, overKey(session), []byte("over"), overLife); err != nil {
		return nil, false, err
	}
	t.tell(ctx, sessionTopic(session))
	// A call may have been over before the mark could be seen: then nobody else tells.
	if held, err = t.holds(ctx, session); err != nil || !held {
		return nil, false, err
	}
	asks, err = t.openIn(ctx, behind)
	return asks, true, err
}

// SessionOver reports whether a session was ended by its client. The error wraps
// storage.ErrUnavailable.
func (t *Tasks) SessionOver(ctx context.Context, session string) (bool, error) {
	_, err := t.store.Get(ctx, overKey(session))
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// WatchSession returns a channel that holds a wake-up when something of a session's tasks
// may have changed, or the session has ended, until stop is called. Wake-ups may be lost
// between berths: look at the poll interval, too.
func (t *Tasks) WatchSession(session string) (woken <-chan struct{}, stop func()) {
	return t.hub.watch(sessionTopic(session))
}

// leaveSession notes that a call is over that was held in a session: what it asked is open
// no more. The last one of a session that its client has ended takes it down at the
// upstream. It fails while the store does not take that, and may be repeated.
func (t *Tasks) leaveSession(ctx context.Context, task *Task, c *Call) error {
	if task.Session == "" {
		return nil
	}
	if err := t.closeAsks(ctx, task); err != nil {
		return err
	}
	if err := t.store.Delist(ctx, t.lists.heldIn(task.Session), task.ID); err != nil {
		return err
	}
	over, err := t.SessionOver(ctx, task.Session)
	if err != nil || !over || c == nil {
		return err
	}
	if held, err := t.holds(ctx, task.Session); err != nil || held {
		return err
	}
	pool, u := t.pools[task.Pool], t.upstreamOf(task)
	if pool == nil || pool.Line.End == nil || u == nil {
		return nil
	}
	if err := pool.Line.End(ctx, u, c); err != nil {
		t.log.Debug("a session that has ended could not be ended at its upstream", "upstream", u.Name, "error", err)
	}
	return nil
}

// closeAsks strikes what a call has left open.
func (t *Tasks) closeAsks(ctx context.Context, task *Task) error {
	open, err := t.openIn(ctx, task.Behind)
	for _, ask := range open {
		if ask.Task == task.ID {
			err = errors.Join(err, t.strikeAsk(ctx, task, string(ask.ID)))
		}
	}
	return err
}
