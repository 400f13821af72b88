package drain

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"berth/internal/renewal"
	"berth/internal/storage"
	"berth/routing"
	"berth/sticky"

	"go.opentelemetry.io/otel/metric"
)

// HeardWithin is how soon every berth that reaches the store goes by a mark, whether it heard of it
// or not; its next report says so.
const HeardWithin = 2 * time.Second

const (
	tellEvery     = 5 * time.Second  // reports, while nothing drains
	tellWhileGone = time.Second      // while something does
	reportLife    = 30 * time.Second // how long a berth counts with what it reported last
	countEvery    = 5 * time.Second  // what upstreams own, for the gauges and for pickers

	topic = "drain" // where berths tell each other of marks
)

// Options are what a Watch is made of.
type Options struct {
	Name     string                 // of this berth, as no other one's
	Store    *storage.Store         // shared by the berths
	Bindings *sticky.Bindings       // count what upstreams own
	IDs      *IDs                   // hide what bindings tell of tasks
	Pools    func() []*routing.Pool // those of now
	Reinit   func(pool string) bool // sessions of the pool can be opened anew elsewhere; nil: of none
	Logger   *slog.Logger           // nil: discarded
	Meter    metric.MeterProvider   // nil: nothing is measured
}

// Watch keeps marks, and watches what is left at the upstreams of one process' pools. Its methods
// may be called concurrently.
type Watch struct {
	o   Options
	log *slog.Logger

	turn sync.Mutex // held while marks are read and applied: none is undone by one that was read before

	mu      sync.Mutex // guards the fields below
	heard   marks      // as last applied
	told    report     // what was last reported
	summary map[place]Counts
	berths  int             // that reported within the life of a report, as counted last; this one is among them
	others  renewal.Watches // the reports of others
}

// place is an upstream of a pool.
type place struct{ pool, upstream string }

// New returns a watch over the pools. Run must be running for marks of other berths to be heard.
func New(o Options) *Watch {
	w := &Watch{o: o, log: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), heard: marks{}, summary: map[place]Counts{}, berths: 1}
	w.measure(o.Meter)
	return w
}

// Run hears of marks and reports until ctx ends.
func (w *Watch) Run(ctx context.Context) error {
	var running sync.WaitGroup
	heard := make(chan struct{}, 1)
	running.Go(func() {
		_ = w.o.Store.Watch(ctx, topic, func(string) { wake(heard) })
	})
	running.Go(func() { w.count(ctx) })
	w.beat(ctx, heard)
	running.Wait()
	w.resign(ctx)
	return nil
}

// beat looks for marks as often as HeardWithin takes, and when it is told of one; and reports.
func (w *Watch) beat(ctx context.Context, heard <-chan struct{}) {
	tick := time.NewTicker(tellWhileGone)
	defer tick.Stop()
	var looked, told time.Time
	for {
		now := time.Now()
		if now.Sub(looked) >= HeardWithin-tellWhileGone/2 {
			looked = now
			w.heedAll(ctx)
		}
		if w.busy() || now.Sub(told) >= tellEvery-tellWhileGone/2 {
			told = now
			w.tell(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-heard:
			looked = time.Time{}
		case <-tick.C:
		}
	}
}

// busy reports whether anything drains.
func (w *Watch) busy() bool {
	for _, pool := range w.o.Pools() {
		for _, u := range pool.Upstreams() {
			if u.IsDraining() {
				return true
			}
		}
	}
	return false
}

func wake(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // the one that waits there will do
	}
}
