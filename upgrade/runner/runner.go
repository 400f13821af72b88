package runner

import (
	"log/slog"
	"sync/atomic"

	"berth/internal/trouble"
	"berth/upgrade/ledger"
	"berth/upgrade/task"

	"go.opentelemetry.io/otel/metric"
)

// Runner holds the calls of this process.
type Runner struct {
	ledger  *ledger.Ledger
	pools   atomic.Pointer[map[string]*Pool] // by name; what it points to does not change
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
func New(l *ledger.Ledger, pools []Pool, most int64, log *slog.Logger, meter metric.MeterProvider) *Runner {
	r := &Runner{
		ledger: l, large: make(chan struct{}, 1), Calls: newTable(), Pending: newPending(), Log: log,
		Unsaved: task.NewUnsaved(most, func() bool { return l.Store.Health().Healthy }),
	}
	r.SetPools(pools)
	r.Metrics = newMetrics(meter, r)
	return r
}
