package upgrade

import (
	"context"
	"log/slog"

	"berth/upgrade/ledger"
	"berth/upgrade/task"

	"go.opentelemetry.io/otel/metric"
)

// Runner holds the calls of this process.
type Runner struct {
	ledger  *ledger.Ledger
	pools   map[string]*Pool
	calls   *table
	pending *pending
	unsaved *task.Unsaved
	log     *slog.Logger
	metrics metrics
}

func newRunner(l *ledger.Ledger, pools []Pool, most int64, log *slog.Logger, meter metric.MeterProvider) *Runner {
	r := &Runner{
		ledger: l, pools: map[string]*Pool{}, calls: newTable(), pending: newPending(), log: log,
		unsaved: task.NewUnsaved(most, func() bool { return l.Store.Health().Healthy }),
	}
	for i := range pools {
		r.pools[pools[i].Routing.Name()] = &pools[i]
	}
	r.metrics = newMetrics(meter, r)
	return r
}

// lookAt gives up the call of a task that has ended, or is another's by now.
func (r *Runner) lookAt(ctx context.Context, id string) {
	if h := r.calls.get(id); h != nil {
		_ = h.look(ctx) // or its next step finds out
	}
}
