package upgrade

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
)

type metrics struct {
	made     metric.Int64Counter
	ends     metric.Int64Counter
	late     metric.Int64Counter
	orphaned metric.Int64Counter
	adopted  metric.Int64Counter
	putBack  metric.Int64Counter
}

func newMetrics(provider metric.MeterProvider, t *Tasks) metrics {
	if provider == nil {
		provider = noop.NewMeterProvider()
	}
	meter := provider.Meter("berth/upgrade")
	var m metrics
	// Creating an instrument fails on a malformed name only.
	m.made, _ = meter.Int64Counter("berth.upgrade.tasks", metric.WithDescription("Upgraded tasks made."))
	m.ends, _ = meter.Int64Counter("berth.upgrade.ended", metric.WithDescription("Upgraded tasks that ended with an outcome of their call, by state."))
	m.late, _ = meter.Int64Counter("berth.upgrade.late_results", metric.WithDescription("Outcomes dropped because their task had ended, or was another berth's, by then."))
	m.orphaned, _ = meter.Int64Counter("berth.upgrade.orphans", metric.WithDescription("Tasks failed because the berth that held their call was gone."))
	m.adopted, _ = meter.Int64Counter("berth.upgrade.adopted", metric.WithDescription("Tasks taken over from a berth that was gone."))
	m.putBack, _ = meter.Int64Counter("berth.upgrade.put_back", metric.WithDescription("Records put back that the store had lost."))
	_, _ = meter.Int64ObservableGauge("berth.upgrade.held", metric.WithDescription("Calls held by this process."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(int64(t.Held()))
			return nil
		}))
	return m
}

func (m metrics) created(ctx context.Context) { m.made.Add(ctx, 1) }

func (m metrics) ended(ctx context.Context, task Task) {
	m.ends.Add(ctx, 1, metric.WithAttributes(attribute.String("state", string(task.State))))
}
