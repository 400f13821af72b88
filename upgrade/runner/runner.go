package runner

import (
	"log/slog"
	"sync/atomic"

	"berth/internal/trouble"
	"berth/upgrade/ledger"
	"berth/upgrade/places"
	"berth/upgrade/task"
	"berth/upgrade/transport"

	"go.opentelemetry.io/otel/metric"
)

// Runner holds the calls of this process.
type Runner struct {
	ledger  *ledger.Ledger
	Pools   *transport.Pools
	Places  *places.Places
	Calls   *Table
	Pending *Pending
	Unsaved *task.Unsaved
	Log     *slog.Logger
	Metrics Metrics

	Troubles *trouble.Book // is told of calls that lost their holder; nil: nobody is

	large   chan struct{} // holds one while a large outcome is written
	wanting atomic.Int32  // calls whose credentials an upstream refuses
}

// New returns a runner of calls to pools. most is as Options.Unsaved of package upgrade.
func New(l *ledger.Ledger, pools []transport.Pool, most int64, log *slog.Logger, meter metric.MeterProvider) *Runner {
	r := &Runner{
		ledger: l, Pools: transport.New(pools, log), large: make(chan struct{}, 1), Calls: newTable(), Pending: newPending(), Log: log,
		Unsaved: task.NewUnsaved(most, func() bool { return l.Store.Health().Healthy }),
	}
	r.Places = places.New(l, r.Pools, func(id string) bool { return r.Calls.Get(id) != nil })
	r.Metrics = newMetrics(meter, r)
	return r
}
