package upgrade

import (
	"cmp"
	"context"
	"errors"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
)

// createTime bounds what a server may take for one operation of a creation. A server that is
// down costs no more than that, since the first one fails; one that is slow has as much for
// each of them.
const createTime = 250 * time.Millisecond

// Creation is a call that is to become a task.
type Creation struct {
	Rule        *Rule
	Tool        string
	Version     string // protocol version of its client
	Asker              // who makes it, and where
	Caller      string // whom the task counts for; "": Principal
	Credentials        // of the caller; they say whose the task is where there is no principal
	Prefer      string // upstream that the call had best go to; "" for any
	Call        *Call

	// Declares is what the client lets servers ask it for; "": nobody knows.
	Declares mcp.Declared

	// Withhold is how long the client may yet get something else in place of the task, from
	// its record on; 0: not at all.
	Withhold time.Duration

	// Core says that the client is of 2025-11-25, and the call's upstream as well.
	Core    bool
	Session string        // what that client calls its session, which is at Prefer; "": none
	TTL     time.Duration // how long the client wants the task to live; 0: as long as the rule says
}

// Create records a task, and returns its call, which is this process's to start or to
// discard. Nothing was sent. Errors: ErrDraining, a *Refusal, an *mcp.Error that refuses
// the call, or one that wraps storage.ErrUnavailable. With any of them there is no task.
func (t *Tasks) Create(ctx context.Context, c Creation) (*Held, error) {
	h, err := t.create(ctx, c, Once{})
	t.runner.metrics.tried(ctx, err)
	return h, err
}

// create is Create for a call that may have a name. It fails with errKeyTaken if another
// one has it.
func (t *Tasks) create(ctx context.Context, c Creation, once Once) (*Held, error) {
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
	var creator Creator
	fresh := func(ctx context.Context) (err error) {
		id, err = t.ledger.ids.fresh(ctx)
		return err
	}
	who := func(ctx context.Context) (err error) {
		creator, err = t.ledger.ids.creator(ctx, c.Credentials)
		return err
	}
	if err := t.inTime(ctx, fresh, who, t.ledger.clock.known); err != nil {
		return nil, err
	}
	task := c.task(id, t.ledger.holder, t.ledger.clock.now())
	task.Once, task.Creator = once, creator
	task.withhold(c.Withhold)
	release, err := t.runner.calls.admit(id, task.Caller, c.Rule.LivePerProcess)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := t.ledger.quota.admit(id, task.Caller, task.weight(), t.ledger.Expires(task).Add(spare)); err != nil {
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

func (c *Creation) task(id, holder string, at time.Time) Task {
	state := Accepted
	if c.Rule.Concurrency > 0 {
		state = Queued
	}
	t := Task{
		ID: id, Pool: c.Pool, Tool: c.Tool, Version: c.Version,
		Principal: c.Principal, Upstream: c.Prefer, Declares: c.Declares,
		Caller: digest(cmp.Or(c.Caller, c.Principal)), Size: c.Call.size(),
		State: state, Created: at, Updated: at, Holder: holder, Terms: c.Rule.terms(c.Pool),
	}
	if c.Core {
		t.Call, t.ProgressToken = "berth-"+newName(9), mcp.ProgressToken(c.Call.Body)
		t.Terms.TTL = c.life()
	}
	if c.Session != "" {
		t.Session = SessionKey(c.Pool, c.Principal, c.Session)
		t.Behind = BehindKey(t.Session, c.Call.Session)
	}
	return t
}

// leastTTL is the shortest life that a task gets, however short the client wants it.
const leastTTL = time.Second

// life is how long the task lives.
func (c *Creation) life() time.Duration {
	if c.TTL == 0 {
		return c.Rule.TTL
	}
	return min(max(c.TTL, leastTTL), max(c.Rule.MaxTTL, c.Rule.TTL))
}

// terms are what the rule says of a task.
func (r *Rule) terms(pool string) Terms {
	terms := Terms{
		TTL: r.TTL, PollInterval: r.PollInterval, Timeout: r.Timeout, MaxResult: r.MaxResult,
		Rerun: r.OnOrphan == OrphanRerun, Slots: r.Concurrency,
	}
	if r.Concurrency > 0 {
		terms.Queue = digest(append([]string{pool}, r.Tools...)...)
	}
	return terms
}

// record stores a task and all that belongs to it, the record last: what is found
// without one is nothing.
func (t *Tasks) record(ctx context.Context, task Task, c Creation) (e entry, err error) {
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
func (l *Ledger) countLive(ctx context.Context, task *Task, most int) error {
	if most <= 0 || task.Principal == "" {
		return nil
	}
	list := l.lists.liveOf(task.Pool, task.Principal)
	add := func() error { return l.lists.add(ctx, list, task.ID, task.Terms.TTL+spare, most) }
	err := add()
	if errors.Is(err, storage.ErrFull) && l.pruneLive(ctx, list) {
		err = add()
	}
	if errors.Is(err, storage.ErrFull) {
		return &Refusal{ErrTooMany, "live_per_principal"}
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
func (r *Runner) abort(ctx context.Context, task Task, c *Call, reason error) {
	if !errors.Is(reason, storage.ErrUnavailable) && ctx.Err() == nil && r.resolve(ctx, task, c) == nil {
		return
	}
	r.pending.keep(task.ID, func(ctx context.Context) error { return r.resolve(ctx, task, c) })
}

// abortLater takes back, once the store takes it, what it may hold of a task; while this process
// drains, too.
func (r *Runner) abortLater(task Task) {
	r.pending.keep(task.ID, func(ctx context.Context) error { return r.forget(ctx, &task) })
	r.ledger.backlog.add(func(ctx context.Context) error { return r.pending.settle(ctx, task.ID) })
}

// forget removes a task that nobody was told of.
func (r *Runner) forget(ctx context.Context, task *Task) error {
	if err := r.ledger.records.forget(ctx, task.ID); err != nil {
		return err
	}
	if task.Outcome != "" {
		r.ledger.records.dropOutcome(ctx, task.ID, task.Outcome)
	}
	if err := r.ledger.once.free(ctx, task); err != nil {
		return err
	}
	r.ledger.quota.drop(task.ID)
	if r.ledger.alone() {
		r.ledger.lists.remove(ctx, r.ledger.lists.all(), task.ID)
	}
	r.ledger.leaveLive(ctx, task)
	r.ledger.lists.remove(ctx, r.ledger.lists.madeBy(task.Pool, task.Principal), task.ID)
	r.ledger.lists.remove(ctx, r.ledger.lists.tasksOf(task.Holder), task.ID)
	return nil
}

// leaveLive takes a task that has ended out of its principal's live ones.
func (l *Ledger) leaveLive(ctx context.Context, task *Task) {
	if task.Principal != "" {
		l.lists.remove(ctx, l.lists.liveOf(task.Pool, task.Principal), task.ID)
	}
}
