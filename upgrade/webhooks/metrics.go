package webhooks

import (
	"context"
	"time"

	"berth/internal/series"
	"berth/internal/webhook"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Why messages are never delivered.
const (
	reasonAttempts  = "attempts"  // there were as many as there may be
	reasonAge       = "age"       // what it tells is too long ago
	reasonGone      = "gone"      // its receiver wants none
	reasonForgotten = "forgotten" // there is no such task any more
	reasonFull      = "full"      // too many were waiting
)

// metrics are what operators see of webhooks.
type metrics struct{ attempts, drops metric.Int64Counter }

func newMetrics(provider metric.MeterProvider, w *Webhooks) metrics {
	meter := series.Meter(provider, "berth/webhooks")
	var m metrics // instruments fail on a malformed name only
	m.attempts, _ = meter.Int64Counter("berth.webhook.deliveries", metric.WithDescription("Attempts to deliver webhook messages."))
	m.drops, _ = meter.Int64Counter("berth.webhook.given_up", metric.WithDescription("Webhook messages that are never delivered."))
	waiting, _ := meter.Int64ObservableGauge("berth.webhook.waiting", metric.WithDescription("Webhook messages not taken yet, in the store for all berths."))
	oldest, _ := meter.Int64ObservableGauge("berth.webhook.oldest", metric.WithUnit("s"), metric.WithDescription("Age of the event that the oldest waiting message tells of; 0: none."))
	_, _ = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for name, c := range *w.couriers.Load() {
			if c.isUnnamed() && c.waiting.Load() == 0 {
				continue
			}
			at := metric.WithAttributes(attribute.String("webhook", name))
			o.ObserveInt64(waiting, c.waiting.Load(), at)
			o.ObserveInt64(oldest, c.oldestAge(), at)
		}
		return nil
	}, waiting, oldest)
	return m
}

// oldestAge is how many seconds ago that was of which the oldest message tells.
func (c *courier) oldestAge() int64 {
	oldest := c.oldest.Load()
	if oldest == nil {
		return 0
	}
	return int64(time.Since(*oldest).Seconds())
}

// begin has a receiver's counters stand at 0.
func (m *metrics) begin(receiver string) {
	series.Begin(m.attempts, series.Of("webhook", receiver), series.Of("outcome", webhook.Outcomes()...))
	series.Begin(m.drops, series.Of("webhook", receiver), series.Of("reason", reasonAttempts, reasonAge, reasonGone, reasonForgotten, reasonFull))
}

func (m *metrics) attempted(receiver string, outcome webhook.Outcome) {
	m.attempts.Add(context.Background(), 1, metric.WithAttributes(attribute.String("webhook", receiver), attribute.String("outcome", string(outcome))))
}

func (m *metrics) dropped(receiver, reason string) {
	m.drops.Add(context.Background(), 1, metric.WithAttributes(attribute.String("webhook", receiver), attribute.String("reason", reason)))
}
