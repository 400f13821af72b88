package sticky

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"berth/internal/storage"

	"go.opentelemetry.io/otel/metric"
)

// ErrUnknown says that nothing is bound to the key: the store was asked and said so.
var ErrUnknown = errors.New("sticky: not bound")

// ErrOwned says that another upstream owns the id already.
var ErrOwned = errors.New("sticky: owned by another upstream")

// Source tells where a look-up found its binding; access records and metrics
// bear it.
type Source string

const (
	SourceBound Source = "bound" // in this process: a store that is its own, or a binding not yet written back
	SourceLRU   Source = "lru"   // the cache in front of a shared store
	SourceStore Source = "store" // the shared store
)

const (
	// keptAfter is by how much a task's binding outlives the task's own TTL, so that
	// the owner and not berth tells a late client that the task is gone.
	keptAfter = 5 * time.Minute

	touchEvery   = time.Minute // how often a session's expiry is extended at most
	extendBeyond = time.Minute // how much later an expiry must be to be worth a write
	hintLife     = 15 * time.Minute

	// ProvisionalLife is how long a provisional binding is kept.
	ProvisionalLife = 5 * time.Minute
	maxUpdates      = 1024 // refreshes that may wait for Run
)

// Options of New. The zero value of each field has a meaning.
type Options struct {
	Near        int                  // entries of the cache in front of the store; 0: none
	MaxTTL      time.Duration        // cap of a task binding's life, counted from its owner's last answer; 0: 168 h
	SessionIdle time.Duration        // a session binding unused for this long is forgotten; 0: 24 h
	Hide        func(string) string  // what of a task's id is kept for operators; nil: nothing. Who reads the store must not learn ids
	Logger      *slog.Logger         // nil: discarded
	Meter       metric.MeterProvider // nil: nothing is measured
}

// Bindings are the bindings of all pools. Its methods may be called concurrently.
type Bindings struct {
	store   *storage.Store
	options Options
	log     *slog.Logger
	near    *near
	pending pending
	lists   lists
	owing   owing
	missing missing
	flights flights
	updates chan entry
	wake    chan struct{}
	metrics metrics
}

// New returns the bindings kept in store. Run must be running for write-backs and
// refreshes to happen.
func New(store *storage.Store, options Options) *Bindings {
	options.MaxTTL = cmp.Or(options.MaxTTL, 168*time.Hour)
	options.SessionIdle = cmp.Or(options.SessionIdle, 24*time.Hour)
	b := &Bindings{
		store:   store,
		options: options,
		log:     cmp.Or(options.Logger, slog.New(slog.DiscardHandler)),
		near:    newNear(options.Near),
		updates: make(chan entry, maxUpdates),
		wake:    make(chan struct{}, 1),
		metrics: newMetrics(options.Meter),
	}
	store.OnRecover(func() {
		select {
		case b.wake <- struct{}{}:
		default: // the one that waits there will do
		}
	})
	return b
}
