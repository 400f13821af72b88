package routing

import (
	"context"
	"errors"
	"slices"

	"berth/internal/series"
	"berth/routing/health"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

type metrics struct {
	provider  metric.MeterProvider
	pool      string
	ejections metric.Int64Counter
	questions metric.Int64Counter
	checks    metric.Int64Counter
	refusals  metric.Int64Counter
	end       func() // stops observing
}

func newMetrics(provider metric.MeterProvider, p *Pool) metrics {
	meter := series.Meter(provider, "berth/routing")
	m := metrics{provider: provider, pool: p.name}
	// Creating an instrument fails on a malformed name only.
	m.ejections, _ = meter.Int64Counter("berth.upstream.ejections", metric.WithDescription("Upstreams ejected: no new work for a while."))
	m.questions, _ = meter.Int64Counter("berth.asks", metric.WithDescription("Questions to the fleet for an id that the map does not know."))
	m.checks, _ = meter.Int64Counter("berth.health.checks", metric.WithDescription("Active checks of upstreams."))
	m.refusals, _ = meter.Int64Counter("berth.queue.refused", metric.WithDescription("Calls turned away for want of room at an upstream: the queue full, or the wait too long (late)."))
	series.Begin(m.refusals, series.Of("pool", p.name), series.Of("reason", "full", "late"))
	p.Begin(m.ejections)
	series.Begin(m.questions, series.Of("pool", p.name), series.Of("outcome", "found", "denied", "unclear", "busy"))
	inFlight, _ := meter.Int64ObservableGauge("berth.upstream.inflight", metric.WithDescription("Requests under way at an upstream, streams included."))
	up, _ := meter.Int64ObservableGauge("berth.upstream.up", metric.WithDescription("1 while its state is ok, else 0."))
	states, _ := meter.Int64ObservableGauge("berth.upstream.state", metric.WithDescription("1 for the state that the upstream is in, 0 for the others."))
	waiting, _ := meter.Int64ObservableGauge("berth.queue.waiting", metric.WithDescription("Calls that wait for room at an upstream."))
	pool := metric.WithAttributes(attribute.String("pool", p.name))
	// A callback given with an instrument is dropped where the instrument stands already: all
	// pools share these. Registering fails on instruments of another meter only.
	observing, _ := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		for _, u := range p.Upstreams() {
			attributes, state, well := upstreamAttributes(p.name, u), u.State().Name, int64(0)
			for _, name := range health.StateNames {
				is := int64(0)
				if name == state {
					is = 1
				}
				if name == health.StateOK {
					well = is
				}
				o.ObserveInt64(states, is, attributes, metric.WithAttributes(attribute.String("state", name)))
			}
			o.ObserveInt64(inFlight, int64(u.InFlight()), attributes)
			o.ObserveInt64(up, well, attributes)
		}
		o.ObserveInt64(waiting, p.room.waiting.Load(), pool)
		return nil
	}, inFlight, up, states, waiting)
	m.end = func() { _ = observing.Unregister() }
	return m
}

func upstreamAttributes(pool string, u *Upstream) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("pool", pool), attribute.String("upstream", u.Name))
}

// counted is a counter of upstreams', which begins at 0 for each that joins, with each combination of the other labels' values.
type counted struct {
	counter metric.Int64Counter
	labels  []series.Label
}

// Begin has a counter by pool, upstream and these labels stand at 0 for each upstream of the pool, and for those that join it.
func (p *Pool) Begin(counter metric.Int64Counter, labels ...series.Label) {
	p.changing.Lock()
	defer p.changing.Unlock()
	c := counted{counter, labels}
	if !slices.ContainsFunc(p.counted, func(other counted) bool { return other.counter == counter }) {
		p.counted = append(p.counted, c)
	}
	c.begin(p.name, p.Names())
}

func (c counted) begin(pool string, upstreams []string) {
	series.Begin(c.counter, append([]series.Label{series.Of("pool", pool), series.Of("upstream", upstreams...)}, c.labels...)...)
}

// forget has no instrument show upstreams that are gone.
func (m metrics) forget(names []string) {
	for _, name := range names {
		series.Forget(m.provider, series.Of("pool", m.pool), series.Of("upstream", name))
	}
}

func (m metrics) ejected(u *Upstream) {
	m.ejections.Add(context.Background(), 1, upstreamAttributes(m.pool, u))
}

func (m metrics) checked(u *Upstream, err error) {
	outcome := "passed"
	if err != nil {
		outcome = "failed"
	}
	m.checks.Add(context.Background(), 1, upstreamAttributes(m.pool, u), metric.WithAttributes(attribute.String("outcome", outcome)))
}

// turnedAway counts an error that says that there is no room.
func (m metrics) turnedAway(err error) {
	var reason string
	switch {
	case errors.Is(err, ErrFull):
		reason = "full"
	case errors.Is(err, ErrLate):
		reason = "late"
	default:
		return
	}
	m.refusals.Add(context.Background(), 1, metric.WithAttributes(attribute.String("pool", m.pool), attribute.String("reason", reason)))
}

func (m metrics) asked(err error) {
	outcome := "found"
	switch {
	case errors.Is(err, ErrDenied):
		outcome = "denied"
	case errors.Is(err, ErrBusy):
		outcome = "busy"
	case err != nil:
		outcome = "unclear"
	}
	m.questions.Add(context.Background(), 1, metric.WithAttributes(attribute.String("pool", m.pool), attribute.String("outcome", outcome)))
}
