package upgrade

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/trouble"
	"berth/upgrade/ledger"
	"berth/upgrade/peers"
	"berth/upgrade/runner"
	"berth/upgrade/task"
	"berth/upgrade/webhooks"

	"go.opentelemetry.io/otel/metric"
)

const defaultLease = 15 * time.Second

// Options are what Tasks is made of.
type Options struct {
	Name   string         // of this process, as no other one's; "": one is made
	Store  *storage.Store // of records, shared or not; required
	Keys   *seal.Keyring  // keys the ids, and seals credentials if its secret was given; required
	Pools  []runner.Pool
	Lease  time.Duration        // how long a holder that does not renew is taken for alive; 0: 15 s
	Logger *slog.Logger         // nil: discarded
	Meter  metric.MeterProvider // nil: nothing is measured
	Kept   ledger.Bounds        // of what tasks keep until they expire

	Receivers []webhooks.Receiver // that rules name
	Troubles  *trouble.Book       // is told of calls that lost their holder; nil: nobody is

	// Unsaved is how many bytes of outcomes may be in memory that the store does not have
	// yet, and of answers that are being read; 0: 256 MiB.
	Unsaved int64
}

// Tasks are the upgraded tasks of a deployment, as one berth sees and holds them. Its
// methods may be called concurrently; any berth answers for any task.
type Tasks struct {
	ledger.Sessions
	ledger.Deliveries

	ledger   *ledger.Ledger
	runner   *runner.Runner
	peers    *peers.Peers
	webhooks *webhooks.Webhooks
	lending  *lending
	creating creating
	polls    polls
}

// New returns the tasks in o.Store. Run them before the first is made.
func New(o Options) *Tasks { return newTasks(o, o.Store) }

func newTasks(o Options, s ledger.Store) *Tasks {
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	l := ledger.New(s, o.Name, o.Keys, o.Lease, o.Kept)
	r := runner.New(l, o.Pools, o.Unsaved, o.Logger, o.Meter)
	r.Troubles = o.Troubles
	w := webhooks.New(l, o.Receivers, o.Logger, o.Meter)
	return &Tasks{Sessions: l.Sessions, Deliveries: l.Deliveries(), ledger: l, runner: r, peers: peers.New(l, r, o.Logger), webhooks: w, lending: newLending(o.Kept), creating: make(creating, createAtOnce), polls: newPolls()}
}

// Change has calls be sent to these pools, tasks keep so much, and these receivers be told, from now on. What is under way in a
// pool that is not among them ends there; what of kept is lent stays as it was.
func (t *Tasks) Change(pools []runner.Pool, kept ledger.Bounds, receivers []webhooks.Receiver) {
	t.webhooks.Change(receivers)
	t.runner.SetPools(pools)
	t.ledger.Quota.SetBounds(kept)
}

// Owns reports whether id is that of an upgraded task of the deployment, whether that
// still exists or not. It looks nothing up; it fails, with storage.ErrUnavailable, only
// while the deployment's secret is not known yet.
func (t *Tasks) Owns(ctx context.Context, id string) (bool, error) { return t.ledger.IDs.Ours(ctx, id) }

// Get returns a task with its outcome, until its caller returns the view. Errors: ErrUnknown, a
// *Refusal, or one that wraps storage.ErrUnavailable.
func (t *Tasks) Get(ctx context.Context, id string, who task.Asker) (View, error) {
	v, err := t.Glance(ctx, id, who)
	switch {
	case err != nil:
	case v.Task.Outcome != "":
		if err = t.showOutcome(ctx, &v); errors.Is(err, ledger.ErrUnknown) {
			return View{}, t.ledger.Epoch.Miss(ctx)
		}
	case v.State == task.InputRequired:
		err = t.showAsks(ctx, &v)
	}
	return v, err
}

// Glance returns a task without its outcome, which the core dialect does not show with it.
// Errors are those of Get.
func (t *Tasks) Glance(ctx context.Context, id string, who task.Asker) (v View, err error) {
	v.Task, err = t.Peek(ctx, id, who)
	if err == nil && v.State == task.Queued {
		v.Place = t.ledger.Queues.Position(ctx, &v.Task)
		v.Paused, _ = t.ledger.Pauses.Has(ctx, v.Terms.Queue) // it is no news of the task if nobody can say
	}
	return v, err
}

// Peek returns a task's record alone: an outcome may be large, and to find a place in a
// queue takes a look at the queue. Errors are those of Get.
func (t *Tasks) Peek(ctx context.Context, id string, who task.Asker) (task.Task, error) {
	e, err := t.find(ctx, id, who)
	return *e.Task, err
}

// find returns the record of a task that is who's.
func (t *Tasks) find(ctx context.Context, id string, who task.Asker) (ledger.Entry, error) {
	e, err := t.read(ctx, id)
	if err != nil {
		return ledger.NoEntry(), err
	}
	if e.Pool != who.Pool || e.Principal != who.Principal {
		return ledger.NoEntry(), ledger.ErrUnknown
	}
	return e, nil
}

// read returns the record of a task. While the store is away a holder answers for what it holds, and
// where nobody else changes records always.
func (t *Tasks) read(ctx context.Context, id string) (ledger.Entry, error) {
	if e, alone := t.runner.StandingAlone(id); alone {
		return e, nil
	}
	e, err := t.ledger.Read(ctx, id)
	if err == nil {
		t.ledger.Overlooked.Meet(e.Task)
	}
	if errors.Is(err, ledger.ErrUnknown) {
		err = t.ledger.Epoch.Miss(ctx)
	}
	if errors.Is(err, ledger.ErrUnknown) || errors.Is(err, storage.ErrUnavailable) {
		if h := t.runner.Calls.Get(id); h != nil {
			return h.Standing(), nil // what is held here exists, though the store has lost it
		}
	}
	return e, err
}

// Holder is the name by which records, lists and other berths know this process.
func (t *Tasks) Holder() string { return t.ledger.Holder }

// Held counts the calls that this process holds.
func (t *Tasks) Held() int { return t.runner.Calls.Size() }

// WatchAll watches tasks. Stop the watcher when nobody waits any more.
func (t *Tasks) WatchAll(ids []string) *ledger.Watcher { return t.ledger.Notices.WatchAll(ids) }

// Expires returns when the task may be forgotten, as the timers of this process count.
func (t *Tasks) Expires(task task.Task) time.Time { return t.ledger.Expires(&task) }

// Withholds reports whether the client of a task may yet get something else in its place:
// then nobody else is to be told of it, for it may be gone in a moment. Who has its id has
// it from the handle, and need not ask.
func (t *Tasks) Withholds(task *task.Task) bool { return t.ledger.Withholds(task) }

// MadeWith reports whether these are the credentials that the task was made with.
func (t *Tasks) MadeWith(task *task.Task, c task.Credentials) bool {
	return t.ledger.IDs.MadeWith(task, c)
}

// MayBeCreators reports whether other credentials than those that the task was made with
// may be its creator's all the same: they name whom those named. Of a task that was made by
// a berth up to 0.4 nobody knows whom they named.
func (t *Tasks) MayBeCreators(task *task.Task, c task.Credentials) bool {
	return t.ledger.IDs.MayBeCreators(task, c)
}

// AskedIn returns the task whose upstream waits, in the session that BehindKey names, for
// the response with this raw id; "" if none does. The error wraps storage.ErrUnavailable.
func (t *Tasks) AskedIn(ctx context.Context, behind string, id []byte) (string, error) {
	return t.ledger.Asks.Waiting(ctx, behind, id)
}

// Settle notes that the upstream has the answer to an ask. What the store does not take
// now is noted once it does: until then the ask may be shown once more, which does no
// harm.
func (t *Tasks) Settle(ctx context.Context, task string, id []byte) { t.runner.Settle(ctx, task, id) }

// SettleIn is Settle for whichever task waits, in the session that BehindKey names, for
// the response with this raw id. If none does, or the store cannot say and later knows of
// none, nothing is noted. ctx bounds what the caller waits for that.
func (t *Tasks) SettleIn(ctx context.Context, behind string, id []byte) {
	t.runner.SettleIn(ctx, behind, id)
}

// Open does what must be done before clients are served: of a store that no other process
// shares, every task that stands is counted, and every one that another process held is seen
// to. Call it once, before Run. The error wraps storage.ErrUnavailable.
func (t *Tasks) Open(ctx context.Context) error { return t.peers.Open(ctx) }

// Run keeps this process known as a holder, hears what others tell, and sees to the tasks
// of those that died, and tells receivers, until ctx ends. Held calls outlive it: see Drain.
func (t *Tasks) Run(ctx context.Context) error {
	var told sync.WaitGroup
	told.Go(func() { t.webhooks.Run(ctx) })
	defer told.Wait()
	return t.peers.Run(ctx)
}

// InMemory is how many bytes of what tasks keep are in this process's memory, those that
// clients are being given included.
func (t *Tasks) InMemory() int64 {
	all, lent := t.ledger.Quota.Total(), t.lending.total()
	if t.ledger.Store.Shared() || t.ledger.Store.Durable() {
		return all.Held + lent
	}
	return all.Bytes + all.Held + lent
}

// KeepsMuch reports whether the tasks of a caller, as Creation names it, keep at least an even
// share of what all keep, or as much of what clients are being given.
func (t *Tasks) KeepsMuch(caller string) bool {
	name := task.Digest(caller)
	return t.ledger.Quota.AboveEven(name) || t.lending.aboveEven(name)
}
