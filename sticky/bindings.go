package sticky

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"berth/internal/storage"
	"berth/sticky/binding"
	"berth/sticky/near"
	"berth/sticky/roll"
	"berth/sticky/share"

	"go.opentelemetry.io/otel/metric"
)

// ErrUnknown says that nothing is bound to the key: the store was asked and said so.
var ErrUnknown = errors.New("sticky: not bound")

// ErrNoRoom says that the caller keeps as much as one may.
var ErrNoRoom = errors.New("sticky: the caller keeps as much as one may")

// ErrOwned says that another upstream owns the id already.
var ErrOwned = errors.New("sticky: owned by another upstream")

// What is known of a task or session has a package of its own.
type (
	Key      = binding.Key
	Kind     = binding.Kind
	Binding  = binding.Binding
	Location = binding.Location
)

// The kinds of keys.
const (
	Task      = binding.Task
	Session   = binding.Session
	Claim     = binding.Claim
	Change    = binding.Change
	Affinity  = binding.Affinity
	Hint      = binding.Hint
	Handshake = binding.Handshake
)

// Values of Binding.Tasks.
const (
	TasksOwn   = binding.TasksOwn
	TasksAdded = binding.TasksAdded
)

// What an upstream owns, as its lists have it.
type (
	Owned = roll.Owned
	Left  = roll.Left
)

// Source tells where a look-up found its binding; access records and metrics
// bear it.
type Source string

const (
	SourceBound Source = "bound" // in this process: a store that is its own, or a binding not yet written back
	SourceLRU   Source = "lru"   // the cache in front of a shared store
	SourceStore Source = "store" // the shared store
)

// Options of New. The zero value of each field has a meaning.
type Options struct {
	Near        int                  // entries of the cache in front of the store; 0: none
	MaxTTL      time.Duration        // cap of a task binding's life, counted from its owner's last answer; 0: 168 h
	SessionIdle time.Duration        // a session binding unused for this long is forgotten; 0: 24 h
	PerCaller   int64                // bytes of what one caller keeps bound in this process; 0: any number
	Hide        func(string) string  // what of a task's id is kept for operators; nil: nothing. Who reads the store must not learn ids
	Logger      *slog.Logger         // nil: discarded
	Meter       metric.MeterProvider // nil: nothing is measured
}

// Bindings are the bindings of all pools. Its methods may be called concurrently. Each part of it has a file of its own.
type Bindings struct {
	store *storage.Store
	terms terms
	local *local
	rolls *rolls

	records    *records
	finder     finder
	binder     binder
	rebinder   rebinder
	refresher  refresher
	writeBack  writeBack
	handshakes handshakes
	census     *roll.Census
	room       room

	wake    chan struct{} // holds one recovery of the store that Run has not seen yet
	metrics *metrics
	log     *slog.Logger
}

// New returns the bindings kept in store. Run must be running for write-backs and
// refreshes to happen.
func New(store *storage.Store, options Options) *Bindings {
	log := cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	terms, metrics := termsOf(options), newMetrics(options.Meter)
	local := &local{near: near.New(options.Near), log: log}
	records, rolls := &records{store: store, log: log}, &rolls{store: store, log: log}
	forgotten := new(forgotten)
	handshakes := handshakes{terms: terms, records: records, pending: new(pendingHandshakes), log: log}
	b := &Bindings{
		store: store, terms: terms, local: local, records: records, rolls: rolls, handshakes: handshakes,
		finder:    finder{local: local, records: records},
		binder:    binder{terms: terms, local: local, records: records, rolls: rolls, handshakes: handshakes, forgotten: forgotten, metrics: metrics, log: log},
		rebinder:  rebinder{terms: terms, local: local, records: records, rolls: rolls, log: log},
		refresher: refresher{terms: terms, local: local, records: records, rolls: rolls, metrics: metrics, updates: make(chan entry, maxUpdates), forgotten: forgotten},
		writeBack: writeBack{local: local, records: records, rolls: rolls, handshakes: handshakes, forgotten: forgotten, metrics: metrics, log: log},
		census:    roll.NewCensus(store),
		wake:      make(chan struct{}, 1),
		metrics:   metrics,
		log:       log,
	}
	b.room = room{shares: new(share.Shares), bindings: b}
	b.SetPerCaller(options.PerCaller)
	store.OnRecover(func() {
		select {
		case b.wake <- struct{}{}:
		default: // the one that waits there will do
		}
	})
	return b
}

// writeBackEvery is how often bindings made during an outage are offered to the
// store. Together with the store's own probing it keeps the promise that they
// are shared within two seconds of its recovery.
const writeBackEvery = 500 * time.Millisecond

// Run writes updates and write-backs until ctx ends; then it offers what still waits
// to the store once more and returns.
func (b *Bindings) Run(ctx context.Context) error {
	tick, sweep := time.NewTicker(writeBackEvery), time.NewTicker(sweepEvery)
	defer tick.Stop()
	defer sweep.Stop()
	begun := context.WithoutCancel(ctx) // what was begun is not told again
	for {
		select {
		case e := <-b.refresher.updates:
			b.refreshed(begun, e)
		case <-tick.C:
			b.writeBack.all(ctx)
			b.refresher.payBack(ctx)
		case <-sweep.C:
			b.room.sweep()
		case <-b.wake:
			b.writeBack.all(ctx)
		case <-ctx.Done():
			b.writeLast(ctx)
			return nil
		}
	}
}

func (b *Bindings) refreshed(ctx context.Context, e entry) {
	if err := b.refresher.apply(ctx, e); err != nil {
		b.log.Debug("a binding could not be refreshed", "kind", string(e.key.Kind), "error", err)
	}
}

// writeLast writes all that waits, within a second.
func (b *Bindings) writeLast(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	b.writeBack.all(ctx)
	for ctx.Err() == nil {
		select {
		case e := <-b.refresher.updates:
			b.refreshed(ctx, e)
		default:
			b.refresher.payBack(ctx)
			return
		}
	}
}
