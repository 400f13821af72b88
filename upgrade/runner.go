package upgrade

import (
	"log/slog"

	"berth/upgrade/task"

	"go.opentelemetry.io/otel/metric"
)

// Runner holds the calls of this process.
type Runner struct {
	ledger  *Ledger
	pools   map[string]*Pool
	calls   *table
	pending *pending
	unsaved *task.Unsaved
	log     *slog.Logger
	metrics metrics
}

func newRunner(l *Ledger, pools []Pool, most int64, log *slog.Logger, meter metric.MeterProvider) *Runner {
	r := &Runner{
		ledger: l, pools: map[string]*Pool{}, calls: newTable(), pending: newPending(), log: log,
		unsaved: task.NewUnsaved(most, func() bool { return l.store.Health().Healthy }),
	}
	for i := range pools {
		r.pools[pools[i].Routing.Name()] = &pools[i]
	}
	r.metrics = newMetrics(meter, r)
	return r
}
