package runner

import (
	"log/slog"

	"berth/upgrade/ledger"
	"berth/upgrade/task"

	"go.opentelemetry.io/otel/metric"
)

// Runner holds the calls of this process.
type Runner struct {
	ledger  *ledger.Ledger
	Pools   map[string]*Pool
	Calls   *Table
	Pending *Pending
	Unsaved *task.Unsaved
	Log     *slog.Logger
	Metrics Metrics
}

// New returns a runner of calls to pools. most is as Options.Unsaved of package upgrade.
func New(l *ledger.Ledger, pools []Pool, most int64, log *slog.Logger, meter metric.MeterProvider) *Runner {
	r := &Runner{
		ledger: l, Pools: map[string]*Pool{}, Calls: newTable(), Pending: newPending(), Log: log,
		Unsaved: task.NewUnsaved(most, func() bool { return l.Store.Health().Healthy }),
	}
	for i := range pools {
		r.Pools[pools[i].Routing.Name()] = &pools[i]
	}
	r.Metrics = newMetrics(meter, r)
	return r
}
