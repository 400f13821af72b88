package upgrade

import (
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/upgrade/task"
)

// createTime bounds what a server may take for one operation of a creation. A server that is
// down costs no more than that, since the first one fails; one that is slow has as much for
// each of them.
const createTime = 250 * time.Millisecond

// Create records a task, and returns its call, which is this process's to start or to
// discard. Nothing was sent. Errors: ErrDraining, a *Refusal, an *mcp.Error that refuses
// the call, or one that wraps storage.ErrUnavailable. With any of them there is no task.
func (t *Tasks) Create(ctx context.Context, c task.Creation) (*Held, error) {
	h, err := t.create(ctx, c, task.Once{})
	t.runner.metrics.tried(ctx, err)
	return h, err
}

// create is Create for a call that may have a name. It fails with errKeyTaken if another
// one has it.
func (t *Tasks) create(ctx context.Context, c task.Creation, once task.Once) (*Held, error) {
	if t.ledger.store.Shared() {
		if err := t.creating.enter(ctx); err != nil {
			return nil, err
		}
		defer t.creating.leave()
	}
	if err := t.fit(); err != nil {
		return nil, err
	}
	if _, err := (mcp.Round{WithoutTask: c.Core}).Body(c.Call.Body); err != nil {
		return nil, err
	}
	var id string
	var creator task.Creator
	fresh := func(ctx context.Context) (err error) {
		id, err = t.ledger.ids.Fresh(ctx)
		return err
	}
	who := func(ctx context.Context) (err error) {
		creator, err = t.ledger.ids.Creator(ctx, c.Credentials)
		return err
	}
	if err := t.inTime(ctx, fresh, who, t.ledger.clock.known); err != nil {
		return nil, err
	}
	task := c.Task(id, t.ledger.holder, t.ledger.clock.now())
	task.Once, task.Creator = once, creator
	if c.Withhold > 0 {
		task.Withhold(c.Withhold + withheldSpare)
	}
	release, err := t.runner.calls.admit(id, task.Caller, c.Rule.LivePerProcess)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := t.ledger.quota.admit(id, task.Caller, task.Weight(), t.ledger.Expires(task).Add(spare)); err != nil {
		return nil, err
	}
	e, err := t.record(ctx, task, c)
	if err != nil {
		t.runner.abort(ctx, task, c.Call, err)
		return nil, err
	}
	t.runner.metrics.made.Add(ctx, 1)
	if task.Session != "" {
		t.ledger.notices.tell(ctx, sessionTopic(task.Session)) // it may be over before anybody looks
	}
	return t.runner.hold(e, c.Call), nil
}

// fit refuses tasks while the store would not keep them. A server that drops keys when
// its memory is full keeps nothing for certain. One that nobody has asked yet is no worse
// than others.
func (t *Tasks) fit() error {
	if health := t.ledger.store.Health(); !health.Healthy && health.LastError != "" || health.Evicts != "" || t.runner.pending.full() {
		return storage.ErrUnavailable
	}
	return nil
}

// inTime takes steps one after the other, each within the time that a server may take once
// it is asked. A disk is waited for.
func (t *Tasks) inTime(ctx context.Context, steps ...func(ctx context.Context) error) error {
	for _, step := range steps {
		began := time.Now()
		err := t.inServersTime(ctx, step)
		if errors.Is(err, storage.ErrUnavailable) && t.ledger.store.Health().Answered.After(began) {
			err = t.inServersTime(ctx, step) // others were served: one answer was late
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *Tasks) inServersTime(ctx context.Context, step func(ctx context.Context) error) error {
	if !t.ledger.store.Shared() {
		return step(ctx)
	}
	ctx, cancel := context.WithTimeout(storage.Within(ctx, createTime), storeTime)
	defer cancel()
	return unavailable(step(ctx))
}

// unavailable makes a step that took too long the store's fault.
func unavailable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.Join(storage.ErrUnavailable, err)
	}
	return err
}

// record stores a task and all that belongs to it, the record last: what is found
// without one is nothing.
func (t *Tasks) record(ctx context.Context, task task.Task, c task.Creation) (e entry, err error) {
	life := task.Terms.TTL
	err = t.inTime(ctx,
		func(ctx context.Context) error { return t.ledger.once.claim(ctx, &task) },
		func(ctx context.Context) error { return t.ledger.takeOn(ctx, &task) },
		func(ctx context.Context) error { return t.ledger.addTask(ctx, &task, life) },
		func(ctx context.Context) error { return t.ledger.countLive(ctx, &task, c.Rule.LivePerPrincipal) },
		func(ctx context.Context) error { return t.ledger.records.keepCall(ctx, task.ID, c.Call, life) },
		func(ctx context.Context) (err error) {
			e, err = t.ledger.records.create(ctx, task, life)
			return err
		},
		func(ctx context.Context) error { return t.ledger.once.settle(ctx, &task, life) },
	)
	return e, err
}

// countLive adds a task to its principal's live ones, unless those are as many as most.
func (l *Ledger) countLive(ctx context.Context, t *task.Task, most int) error {
	if most <= 0 || t.Principal == "" {
		return nil
	}
	list := l.lists.liveOf(t.Pool, t.Principal)
	add := func() error { return l.lists.add(ctx, list, t.ID, t.Terms.TTL+spare, most) }
	err := add()
	if errors.Is(err, storage.ErrFull) && l.pruneLive(ctx, list) {
		err = add()
	}
	if errors.Is(err, storage.ErrFull) {
		return &task.Refusal{Err: ErrTooMany, Reason: "live_per_principal"}
	}
	return err
}

// pruneAtOnce bounds what one refusal may cost the store.
const pruneAtOnce = 8

// pruneLive strikes out of a principal's live tasks what is none, of the oldest ones: who
// died while it made a task, or took the end of one down, has left it there.
func (l *Ledger) pruneLive(ctx context.Context, list string) (found bool) {
	listed, _ := l.store.Members(ctx, list) // none, and nothing is found
	for _, id := range listed[:min(len(listed), pruneAtOnce)] {
		e, err := l.records.get(ctx, id)
		if errors.Is(err, ErrUnknown) || err == nil && e.State.Terminal() {
			l.lists.remove(ctx, list, id)
			found = true
		}
	}
	return found
}

// abort takes back what a creation that failed may have stored: at once, unless the store
// is why it failed. The caller has claimed the task.
func (r *Runner) abort(ctx context.Context, t task.Task, c *task.Call, reason error) {
	if !errors.Is(reason, storage.ErrUnavailable) && ctx.Err() == nil && r.resolve(ctx, t, c) == nil {
		return
	}
	r.pending.keep(t.ID, func(ctx context.Context) error { return r.resolve(ctx, t, c) })
}

// abortLater takes back, once the store takes it, what it may hold of a task; while this process
// drains, too.
func (r *Runner) abortLater(t task.Task) {
	r.pending.keep(t.ID, func(ctx context.Context) error { return r.forget(ctx, &t) })
	r.ledger.backlog.add(func(ctx context.Context) error { return r.pending.settle(ctx, t.ID) })
}

// forget removes a task that nobody was told of.
func (r *Runner) forget(ctx context.Context, t *task.Task) error {
	if err := r.ledger.records.forget(ctx, t.ID); err != nil {
		return err
	}
	if t.Outcome != "" {
		r.ledger.records.dropOutcome(ctx, t.ID, t.Outcome)
	}
	if err := r.ledger.once.free(ctx, t); err != nil {
		return err
	}
	r.ledger.quota.drop(t.ID)
	if r.ledger.alone() {
		r.ledger.lists.remove(ctx, r.ledger.lists.all(), t.ID)
	}
	r.ledger.leaveLive(ctx, t)
	r.ledger.lists.remove(ctx, r.ledger.lists.madeBy(t.Pool, t.Principal), t.ID)
	r.ledger.lists.remove(ctx, r.ledger.lists.tasksOf(t.Holder), t.ID)
	return nil
}

// leaveLive takes a task that has ended out of its principal's live ones.
func (l *Ledger) leaveLive(ctx context.Context, t *task.Task) {
	if t.Principal != "" {
		l.lists.remove(ctx, l.lists.liveOf(t.Pool, t.Principal), t.ID)
	}
}
