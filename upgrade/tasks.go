package upgrade

import (
	"context"
	"errors"
	"log/slog"
	"time"

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

// Pool is where held calls are sent.
type Pool struct {
	Routing   *routing.Pool
	Transport Transport

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
	Kept   Bounds               // of what tasks keep until they expire

	// Unstored is how many bytes of outcomes may be in memory that the store does not have
	// yet, and of answers that are being read; 0: 256 MiB.
	Unstored int64
}

// Tasks are the upgraded tasks of a deployment, as one berth sees and holds them. Its
// methods may be called concurrently; any berth answers for any task.
type Tasks struct {
	store   store
	keys    *seal.Keyring
	records records
	ids     *ids
	clock   *clock
	lists   lists
	pools   map[string]*Pool
	life    time.Duration // of a lease
	lease   *lease
	log     *slog.Logger
	metrics metrics
	holder  string // this process
	hub     *hub
	queues  *queues
	trust   trust
	custody *custody
	unsure  *unsure
	backlog *backlog
	unkept  unstoredBytes
	quota   *quota
	lending *lending
	woken   chan struct{} // holds one: the next beat is due at once
	renewal chan struct{} // holds one: so is the next renewal of the lease

	creating creating
}

// store is what is asked of a *storage.Store.
type store interface {
	storage.Engine
	Shared() bool
	Durable() bool
	Health() storage.Health
	OnRecover(hook func())
}

// New returns the tasks in o.Store. Run them before the first is made.
func New(o Options) *Tasks { return newTasks(o, o.Store) }

func newTasks(o Options, s store) *Tasks {
	t := &Tasks{
		store:   s,
		keys:    o.Keys,
		records: records{s},
		ids:     &ids{keys: o.Keys},
		clock:   &clock{store: s},
		lists:   lists{s},
		pools:   map[string]*Pool{},
		life:    o.Lease,
		log:     o.Logger,
		holder:  newName(16),
		hub:     newHub(),
		queues:  newQueues(lists{s}),
		custody: newCustody(),
		unsure:  newUnsure(),
		backlog: newBacklog(),
		quota:   newQuota(o.Kept),
		lending: newLending(o.Kept),
		unkept:  unstoredBytes{most: o.Unstored},
		woken:   make(chan struct{}, 1),
		renewal: make(chan struct{}, 1),

		creating: newCreating(),
	}
	for i := range o.Pools {
		t.pools[o.Pools[i].Routing.Name()] = &o.Pools[i]
	}
	if t.life <= 0 {
		t.life = defaultLease
	}
	t.lease = newLease(t.lists, t.holder, t.life, t.word)
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
	Inputs  []byte // what it waits for between two rounds, as one JSON object
	Place   int    // in the queue, from 1; 0: in none

	lent *lent // nil: these are the view's own
}

// Get returns a task with its outcome, until its caller returns the view. Errors: ErrUnknown, a
// *Refusal, or one that wraps storage.ErrUnavailable.
func (t *Tasks) Get(ctx context.Context, id string, who Asker) (View, error) {
	e, err := t.find(ctx, id, who)
	if err != nil {
		return View{}, err
	}
	v := View{Task: e.Task}
	switch {
	case e.Task.Outcome != "":
		if err = t.showOutcome(ctx, &v); errors.Is(err, ErrUnknown) {
			return View{}, t.miss(ctx)
		}
	case e.State == InputRequired:
		err = t.showAsks(ctx, &v)
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
	e, err := t.read(ctx, id)
	if errors.Is(err, ErrUnknown) {
		err = t.miss(ctx)
	}
	switch {
	case errors.Is(err, ErrUnknown), errors.Is(err, storage.ErrUnavailable):
		h := t.custody.get(id)
		if h == nil {
			return entry{}, err
		}
		e = h.standing() // what is held here exists, though the store has lost it
	case err != nil:
		return entry{}, err
	}
	if e.Pool != who.Pool || e.Principal != who.Principal {
		return entry{}, ErrUnknown
	}
	return e, nil
}

// read returns a record, and asks a second time if a store that is well otherwise was late:
// some clients give a task up at the first error.
func (t *Tasks) read(ctx context.Context, id string) (entry, error) {
	e, err := t.records.get(ctx, id)
	if errors.Is(err, storage.ErrUnavailable) && t.store.Health().Healthy {
		e, err = t.records.get(ctx, id)
	}
	return e, err
}

// op returns a new op of this process.
func (t *Tasks) op(kind Kind) Op {
	return Op{ID: newName(9), Kind: kind, At: t.clock.now(), Holder: t.holder}
}

// Holder is the name by which records, lists and other berths know this process.
func (t *Tasks) Holder() string { return t.holder }

// Held counts the calls that this process holds.
func (t *Tasks) Held() int { return t.custody.size() }
