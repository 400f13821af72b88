package upgrade

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/trouble"
	"berth/upgrade/ledger"
	"berth/upgrade/lending"
	"berth/upgrade/peers"
	"berth/upgrade/quota"
	"berth/upgrade/runner"
	"berth/upgrade/task"
	"berth/upgrade/transport"
	"berth/upgrade/webhooks"

	"go.opentelemetry.io/otel/metric"
)

const defaultLease = 15 * time.Second

// Options are what Tasks is made of.
type Options struct {
	Name   string         // of this process, as no other one's; "": one is made
	Store  *storage.Store // of records, shared or not; required
	Keys   *seal.Keyring  // keys the ids, and seals credentials if its secret was given; required
	Pools  []transport.Destination
	Lease  time.Duration        // how long a holder that does not renew is taken for alive; 0: 15 s
	Logger *slog.Logger         // nil: discarded
	Meter  metric.MeterProvider // nil: nothing is measured
	Kept   quota.Bounds         // of what tasks keep until they expire

	Receivers []webhooks.Receiver // that rules name
	Troubles  *trouble.Book       // is told of calls that lost their holder; nil: nobody is
	Traced    func(Round)         // is told of each round whose task comes from a request that is traced; nil: nobody is

	// Unsaved is how many bytes of outcomes may be in memory that the store does not have
	// yet, and of answers that are being read; 0: 256 MiB.
	Unsaved int64
}

// Tasks are the upgraded tasks of a deployment, as one berth sees and holds them. They are
// opened, run, changed and drained as a whole; each part is for who needs no more than that.
// The zero Tasks have no parts. What there is may be called concurrently; any berth answers
// for any task.
type Tasks struct {
	IDs      *task.IDs // tells which ids are of upgraded tasks, and who made a task
	Maker    *Maker
	Reader   *Reader
	Steps    *Steps
	Sessions *Sessions
	Polls    *Polls
	Use      *Use

	Queues   *Queues // those below are for operators
	Overview *Overview
	Orders   *Orders

	ledger   *ledger.Ledger
	runner   *runner.Runner
	peers    *peers.Peers
	webhooks *webhooks.Webhooks
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
	r.Metrics.Troubles, r.Metrics.Traced = o.Troubles, o.Traced
	t := &Tasks{ledger: l, runner: r, peers: peers.New(l, r, o.Logger), webhooks: webhooks.New(l, o.Receivers, o.Logger, o.Meter)}
	t.divide(lending.New(o.Kept.Lent, o.Kept.LentPerCaller))
	return t
}

// divide gives each part what it needs.
func (t *Tasks) divide(lent *lending.Lending) {
	l, r := t.ledger, t.runner
	found := records{l, r}
	t.IDs, t.Polls = l.IDs, newPolls()
	t.Reader = &Reader{records: found, ledger: l, lending: lent, metrics: r.Metrics}
	t.Maker = &Maker{records: found, ledger: l, runner: r, creating: make(creating, createAtOnce)}
	t.Steps = &Steps{records: found, ledger: l, runner: r, moots: moots{next: map[string]time.Time{}}, vigils: newVigils()}
	r.Watch = t.Steps.watch
	t.Sessions = &Sessions{Sessions: l.Sessions, Deliveries: l.Deliveries(), ledger: l, runner: r}
	t.Use = &Use{ledger: l, lending: lent, metrics: r.Metrics}
	t.Queues = &Queues{ledger: l}
	t.Overview = &Overview{records: found, ledger: l, runner: r}
	t.Orders = &Orders{records: found, ledger: l, runner: r, maker: t.Maker, steps: t.Steps}
}

// Change has calls be sent to these pools, tasks keep so much, and these receivers be told, from now on. What is under way in a
// pool that is not among them ends there; what of kept is lent stays as it was.
func (t *Tasks) Change(pools []transport.Destination, kept quota.Bounds, receivers []webhooks.Receiver) {
	t.webhooks.Change(receivers)
	t.runner.Pools.Set(pools)
	t.runner.Metrics.Join(t.runner.Pools)
	t.ledger.Quota.SetBounds(kept)
}

// Holder is the name by which records, lists and other berths know this process.
func (t *Tasks) Holder() string { return t.ledger.Holder }

// Held counts the calls that this process holds.
func (t *Tasks) Held() int { return t.runner.Calls.Size() }

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
	defer t.Steps.vigils.end()
	return t.peers.Run(ctx)
}
