package upgrade

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/storage"
	"berth/routing"
	"berth/upgrade/ledger"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// Maker makes tasks of calls.
type Maker struct {
	records  records
	ledger   *ledger.Ledger
	runner   *runner.Runner
	creating creating
}

// Create records a task, and returns its call, which is this process's to start or to
// discard. Nothing was sent. Errors: ErrDraining, routing.ErrNoUpstream, a *Refusal, an *mcp.Error that refuses
// the call, or one that wraps storage.ErrUnavailable. With any of them there is no task; but with
// ErrUnsettled there may be one.
func (m *Maker) Create(ctx context.Context, c task.Creation) (*runner.Held, error) {
	h, err := m.create(ctx, c, task.Once{})
	m.runner.Metrics.Tried(ctx, err)
	return h, err
}

// create is Create for a call that may bear an idempotency key. It fails with ErrKeyTaken if another
// one has that.
func (m *Maker) create(ctx context.Context, c task.Creation, once task.Once) (*runner.Held, error) {
	if m.ledger.Store.Shared() {
		if err := m.creating.enter(ctx); err != nil {
			return nil, err
		}
		defer m.creating.leave()
	}
	if err := m.fit(); err != nil {
		return nil, err
	}
	first, err := runner.NewFirst(c.Call, c.Core)
	if err != nil {
		return nil, err
	}
	if c.Session == "" && !m.runner.Pools.Get(c.Asker.Pool).Routing.TakesWork() {
		return nil, routing.ErrNoUpstream
	}
	id, creator, err := m.name(ctx, c.Credentials)
	if err != nil {
		return nil, err
	}
	t := c.Task(id, first.Token, m.ledger.Holder, m.ledger.Clock.Now())
	t.Once, t.Creator = once, creator
	if c.Withhold > 0 {
		t.Withhold(c.Withhold + withheldSpare)
	}
	if err := m.admit(t, c.Rule.LivePerProcess); err != nil {
		return nil, err
	}
	defer m.runner.Calls.Unadmit(t.ID, t.Caller)
	recorded := t
	if c.AtOnce {
		recorded = m.runner.Commit(t, &first)
	}
	e, err := m.record(ctx, recorded, &c)
	if err != nil {
		first.Drop()
		m.runner.Abort(ctx, t, c.Call, err)
		return nil, err
	}
	m.runner.Metrics.Made()
	if t.Session != "" {
		m.ledger.Notices.Tell(ctx, ledger.SessionTopic(t.Session)) // it may be over before anybody looks
	}
	return m.runner.Hold(e, c.Call).Begin(first), nil
}

// admit claims a new task, whose caller and process may have so many (see runner.HeldCalls.Admit), and has it count among what tasks keep.
func (m *Maker) admit(t *task.Task, most int) error {
	if err := m.runner.Calls.Admit(t.ID, t.Caller, most); err != nil {
		return err
	}
	err := m.ledger.Quota.Admit(t.ID, t.Caller, t.Weight(), m.ledger.Expires(t).Add(ledger.Spare))
	if err != nil {
		m.runner.Calls.Unadmit(t.ID, t.Caller)
	}
	return err
}

// name returns a new task's id, and what its record says of who makes it. The store is asked for what a process knows from
// its first task on.
func (m *Maker) name(ctx context.Context, c task.Credentials) (id string, who task.Creator, err error) {
	if !m.ledger.IDs.AreKnown() || !m.ledger.Clock.IsKnown() {
		err = inTime(ctx, m.ledger.Store, m.ledger.IDs.Known, m.ledger.Clock.Known)
	}
	if err == nil {
		id, err = m.ledger.IDs.Fresh(ctx)
	}
	if err == nil {
		who, err = m.ledger.IDs.Creator(ctx, c)
	}
	return id, who, err
}

// fit refuses tasks while the store would not keep them. A server that drops keys when
// its memory is full keeps nothing for certain. One that nobody has asked yet is no worse
// than others.
func (m *Maker) fit() error {
	if health := m.ledger.Store.Health(); !health.Healthy && health.LastError != "" || health.Evicts != "" || m.ledger.Pending.Full() {
		return storage.ErrUnavailable
	}
	return nil
}

// record stores a task and all that belongs to it, the record last: what is found
// without one is nothing.
func (m *Maker) record(ctx context.Context, of *task.Task, c *task.Creation) (e ledger.Entry, err error) {
	life := of.Terms.TTL
	var claim, count, settle trip
	settling := false
	if of.Once != (task.Once{}) {
		claim = func(ctx context.Context) error { return m.ledger.Once.Claim(ctx, of) }
		settle = func(ctx context.Context) error {
			settling = true
			return m.ledger.Once.Settle(ctx, of, life)
		}
	}
	if of.Principal != "" && !of.Terms.Unlisted {
		count = func(ctx context.Context) error { return m.ledger.CountLive(ctx, of, c.Rule.LivePerPrincipal) }
	}
	store := func(ctx context.Context) (err error) {
		e, err = m.ledger.Make(ctx, of, c.Call, life)
		return err
	}
	err = inTime(ctx, m.ledger.Store, claim, count, store, settle)
	if settling && errors.Is(err, storage.ErrUnavailable) {
		err = fmt.Errorf("%w: %w", ErrUnsettled, err) // repetitions may be told of the task, and it goes on then
	}
	return e, err
}

// withheldSpare is how long after the time that is given for it a task is still taken for
// withheld of which nothing else is heard: the steps of its creation come before that time,
// and those by which it is forgotten after it.
const withheldSpare = 2 * ledger.StoreTime
