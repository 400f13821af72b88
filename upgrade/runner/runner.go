package runner

import (
	"log/slog"
	"sync/atomic"

	"berth/upgrade/ledger"
	"berth/upgrade/metrics"
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
	Calls   *HeldCalls
	Past    Past
	Unsaved *task.Unsaved
	Log     *slog.Logger
	Metrics *metrics.Metrics

	// Watch is told of a task that follows an upstream's and waits for its client from now on, and what authorises what is asked of that.
	Watch func(t *task.Task, with task.Envelope)

	parting parting       // once calls are to go on elsewhere
	large   chan struct{} // holds one while a large outcome is written
	wanting atomic.Int32  // calls whose credentials an upstream refuses
}

// New returns a runner of calls to pools. most is as Options.Unsaved of package upgrade.
func New(l *ledger.Ledger, pools []transport.Destination, most int64, log *slog.Logger, provider metric.MeterProvider) *Runner {
	r := &Runner{
		ledger: l, Pools: transport.New(pools, log), parting: parting{leaves: make(chan struct{})}, large: make(chan struct{}, 1), Calls: newHeldCalls(), Past: newPast(), Log: log,
		Unsaved: task.NewUnsaved(most, func() bool { return l.Store.Health().Healthy }),
	}
	r.Places = places.New(l, r.Pools, r.Calls.Has)
	meter := metrics.Meter(provider)
	r.Metrics = metrics.New(meter, r.Pools)
	r.gauge(meter)
	return r
}
