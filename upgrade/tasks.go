package upgrade

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/routing"

	"go.opentelemetry.io/otel/metric"
)

var (
	// ErrDraining says that this berth takes on no more tasks.
	ErrDraining = errors.New("upgrade: draining")
	// ErrTooMany says that a principal, or this process, has as many live tasks as the
	// rule allows.
	ErrTooMany = errors.New("upgrade: too many live tasks")
)

const defaultLease = 15 * time.Second

// Exchange is the answer to one round, message by message. It is for one goroutine.
type Exchange interface {
	// Next returns the next JSON-RPC message, whole; io.EOF after the last one. An error
	// that is an *mcp.Error says in which words the task fails.
	Next() ([]byte, error)
	// Close ends the exchange, and with it the call if that goes on.
	Close()
}

// ErrAnswered is what Send or Next fails with where the client was given the answer
// itself: there is no task then.
var ErrAnswered = errors.New("upgrade: the client was answered")

// Send sends one round to u, once. Until the answer's headers come it may fail with an
// *exchange.SendError, with ErrAnswered, or with an *mcp.Error that the task fails with.
type Send func(ctx context.Context, u *routing.Upstream, c *Call, maxAnswer int64) (Exchange, error)

// Pool is where held calls are sent.
type Pool struct {
	Routing *routing.Pool
	Send    Send

	// OwnCredentials says that berth itself authorises what goes there, so that a call can
	// be sent without its client's headers.
	OwnCredentials bool
}

// Options are what Tasks is made of.
type Options struct {
	Store  *storage.Store // of records, shared or not; required
	Keys   *seal.Keyring  // keys the ids, and seals credentials if its secret was given; required
	Pools  []Pool
	Lease  time.Duration        // how long a holder that does not renew is taken for alive; 0: 15 s
	Logger *slog.Logger         // nil: discarded
	Meter  metric.MeterProvider // nil: nothing is measured
}

// Tasks are the upgraded tasks of a deployment, as one berth sees and holds them. Its
// methods may be called concurrently; any berth answers for any task.
type Tasks struct {
	store   *storage.Store
	keys    *seal.Keyring
	records records
	ids     *ids
	lists   lists
	pools   map[string]*Pool
	lease   time.Duration
	log     *slog.Logger
	metrics metrics
	holder  string // this process
	hub     *hub
	trust   trust
	backlog *backlog
	unkept  unstoredBytes
	woken   chan struct{} // holds one: the next beat is due at once

	leaseVersion uint64 // of the lease as it was last renewed; the beat's

	mu       sync.Mutex // guards the fields below
	held     map[string]*Held
	claimed  map[string]bool // tasks that are about to be held
	draining bool
}

// New returns the tasks in o.Store. Run them before the first is made.
func New(o Options) *Tasks {
	t := &Tasks{
		store:   o.Store,
		keys:    o.Keys,
		records: records{o.Store},
		ids:     &ids{keys: o.Keys},
		lists:   lists{o.Store},
		pools:   map[string]*Pool{},
		lease:   o.Lease,
		log:     o.Logger,
		holder:  newName(16),
		hub:     newHub(),
		backlog: newBacklog(),
		held:    map[string]*Held{},
		claimed: map[string]bool{},
		woken:   make(chan struct{}, 1),
	}
	for i := range o.Pools {
		t.pools[o.Pools[i].Routing.Name()] = &o.Pools[i]
	}
	if t.lease <= 0 {
		t.lease = defaultLease
	}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	t.metrics = newMetrics(o.Meter, t)
	return t
}

// Owns reports whether id is that of an upgraded task of the deployment, whether that
// still exists or not. It looks nothing up; it fails, with storage.ErrUnavailable, only
// while the deployment's secret is not known yet.
func (t *Tasks) Owns(ctx context.Context, id string) (bool, error) { return t.ids.ours(ctx, id) }

// Asker is who asks for a task, and where.
type Asker struct {
	Pool      string
	Principal string

	// Envelope is what the request bears beside its body. Only Cancel needs it, for a task
	// that follows one of an upstream's; nil: that is left to expire.
	Envelope *Envelope
}

// View is a task as its client may see it.
type View struct {
	Task
	Outcome []byte // the result or the error, once there is one
	Place   int    // in the queue, from 1; 0: in none
}

// Get returns a task with its outcome. Errors: ErrUnknown, or one that wraps
// storage.ErrUnavailable.
func (t *Tasks) Get(ctx context.Context, id string, who Asker) (View, error) {
	e, err := t.find(ctx, id, who)
	if err != nil {
		return View{}, err
	}
	v := View{Task: e.Task}
	switch {
	case e.Task.Outcome != "":
		if v.Outcome, err = t.records.outcome(ctx, id, e.Task.Outcome); errors.Is(err, ErrUnknown) {
			return View{}, t.miss(ctx)
		}
	case e.State == Queued:
		v.Place = t.place(ctx, &e.Task)
	}
	return v, err
}

// Peek returns a task's record alone: an outcome may be large, and to find a place in a
// queue takes a look at the queue. Errors are those of Get.
func (t *Tasks) Peek(ctx context.Context, id string, who Asker) (Task, error) {
	e, err := t.find(ctx, id, who)
	return e.Task, err
}

// find returns the record of a task that is who's. While the store is away a holder
// answers for what it holds.
func (t *Tasks) find(ctx context.Context, id string, who Asker) (entry, error) {
	e, err := t.records.get(ctx, id)
	switch {
	case errors.Is(err, ErrUnknown):
		if err = t.miss(ctx); errors.Is(err, ErrUnknown) {
			return entry{}, err
		}
		fallthrough
	case errors.Is(err, storage.ErrUnavailable):
		h := t.holds(id)
		if h == nil {
			return entry{}, err
		}
		e = h.standing()
	case err != nil:
		return entry{}, err
	}
	if e.Pool != who.Pool || e.Principal != who.Principal {
		return entry{}, ErrUnknown
	}
	return e, nil
}

// Update gives a task its client's answers. c is the request that brought them: its
// envelope goes with the next round. Answers that nobody waits for are ignored.
func (t *Tasks) Update(ctx context.Context, id string, who Asker, answers []mcp.Input, with *Envelope) error {
	e, err := t.find(ctx, id, who)
	if err != nil || e.State != InputRequired {
		return err
	}
	if err := t.awaitRelease(ctx, id); err != nil {
		return err
	}
	op := t.op(Answer)
	op.Answers = answers
	take := func(ctx context.Context) error { return t.take(ctx, e, op, with) }
	err = take(ctx)
	if errors.Is(err, storage.ErrUnavailable) {
		// The answers may be stored, and with them that this process goes on with the task.
		t.backlog.add(take)
	}
	return err
}

// take does what op says, and goes on with the task if that made it this process's.
func (t *Tasks) take(ctx context.Context, e entry, op Op, with *Envelope) error {
	t.claim(e.ID)
	defer t.unclaim(e.ID)
	if completes(&e.Task, op) {
		if err := t.lists.enlist(ctx, t.lists.tasksOf(t.holder), e.ID, time.Until(e.Expires())+spare, 0); err != nil {
			return err
		}
	}
	after, err := t.records.apply(ctx, e, op)
	if err != nil {
		if errors.Is(err, storage.ErrUnavailable) {
			return err
		}
		return nil // it has ended, or expired, meanwhile
	}
	if t.tookOver(&after.Task, op) {
		return t.resume(ctx, after, with)
	}
	t.changed(ctx, e.ID)
	return nil
}

// completes reports whether op would bring the last answer, as far as t tells.
func completes(t *Task, op Op) bool {
	next, changed, err := Transition(*t, op)
	return err == nil && changed && next.State != InputRequired
}

// tookOver reports whether op made this process the holder of a round that is due.
func (t *Tasks) tookOver(task *Task, op Op) bool {
	return task.did(op.ID) && task.Waiting() && task.Holder == t.holder && t.holds(task.ID) == nil
}

// resume holds the next round of a task, sent with the envelope of who answered.
func (t *Tasks) resume(ctx context.Context, e entry, with *Envelope) error {
	c, _, err := t.loadCall(ctx, e.ID)
	if errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	if err != nil {
		t.log.Error("the call of a task cannot be read", "task", e.ID, "error", err)
		t.abandon(e, err)
		return nil
	}
	c.Envelope = *with
	t.hold(e, c).start()
	t.changed(ctx, e.ID)
	return nil
}

// awaitRelease waits until this process has let go of a round that is over.
func (t *Tasks) awaitRelease(ctx context.Context, id string) error {
	h := t.holds(id)
	if h == nil {
		return nil
	}
	select {
	case <-h.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Cancel ends a task. A task that has ended stays as it is.
func (t *Tasks) Cancel(ctx context.Context, id string, who Asker) error {
	e, err := t.find(ctx, id, who)
	if err != nil || e.State.Terminal() {
		return err
	}
	after, err := t.records.apply(ctx, e, t.op(Cancel))
	if err != nil {
		return err
	}
	t.leave(ctx, &after.Task)
	defer t.withdraw(ctx, e.Task, who.Envelope)
	switch h := t.holds(id); {
	case h != nil:
		h.end(errCancelled)
	case e.Holder != "":
		// If this is lost, the holder learns of it when its result is refused.
		_ = t.lists.enlist(ctx, t.lists.mailOf(e.Holder), id, t.lease, 0)
	}
	t.changed(ctx, id)
	return nil
}

// op returns a new op of this process.
func (t *Tasks) op(kind Kind) Op {
	return Op{ID: newName(9), Kind: kind, At: now(), Holder: t.holder}
}

// now is the time as records have it.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// claim keeps reconcile from a task that is about to be held.
func (t *Tasks) claim(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.claimed[id] = true
}

func (t *Tasks) unclaim(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.claimed, id)
}

// minds reports whether this process holds the task, or is about to.
func (t *Tasks) minds(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held[id] != nil || t.claimed[id]
}

func (t *Tasks) holds(id string) *Held {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held[id]
}

// all are the calls that this process holds. Their own locks may be held for as long as a
// step takes, and must not be waited for under that of the process.
func (t *Tasks) all() []*Held {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Values(t.held))
}

// Held counts the calls that this process holds.
func (t *Tasks) Held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.held)
}
