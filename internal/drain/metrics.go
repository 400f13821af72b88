package drain

import (
	"context"
	"time"

	"berth/internal/series"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// count counts what upstreams own every now and then until ctx ends: for the gauges, and for who
// chooses upstreams by it.
func (w *Watch) count(ctx context.Context) {
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	for {
		w.countOnce(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *Watch) countOnce(ctx context.Context) {
	reports, err := w.reports(ctx)
	if err != nil {
		return // the gauges stay: the store's own say that it is away
	}
	next := map[place]Counts{}
	for _, pool := range w.o.Pools() {
		for _, u := range pool.Upstreams() {
			at, s := place{pool.Name(), u.Name}, Status{}
			mark := u.Drain()
			for _, r := range reports {
				s.take(r, at, mark)
			}
			owned, err := w.o.Bindings.Owned(ctx, at.pool, at.upstream)
			if err != nil {
				return
			}
			u.Learn(owned)
			s.Left.Tasks, s.Left.Sessions = owned.Tasks, owned.Sessions
			next[at] = s.Left
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.summary, w.berths = next, alive(reports)
}

// UnderWay is how much all berths had under way at an upstream when they were counted last: requests, streams and held calls.
func (w *Watch) UnderWay(pool, upstream string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.summary[place{pool, upstream}]
	return c.Requests + c.Streams + c.Held
}

// alive is how many of these are of berths that have not ended.
func alive(reports []report) (n int) {
	for _, r := range reports {
		if !r.Gone {
			n++
		}
	}
	return n
}

// measure has the gauges tell what was counted last, and which upstreams drain now: that needs no store.
func (w *Watch) measure(provider metric.MeterProvider) {
	meter := series.Meter(provider, "berth/internal/drain")
	// Creating an instrument fails on a malformed name only.
	owned, _ := meter.Int64ObservableGauge("berth.upstream.owned", metric.WithDescription("What an upstream owns and has under way, at all berths: each tells the same, take the maximum."))
	draining, _ := meter.Int64ObservableGauge("berth.upstream.draining", metric.WithDescription("1 if the upstream gets no new work, by the file or by an operator."))
	berths, _ := meter.Int64ObservableGauge("berth.berths", metric.WithDescription("Berths heard of within 30 s, this one included: each tells the same, take the minimum."))
	_, _ = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		w.mu.Lock()
		summary, heard := w.summary, w.berths
		w.mu.Unlock()
		o.ObserveInt64(berths, int64(heard))
		for _, pool := range w.o.Pools() {
			for _, u := range pool.Upstreams() { // not of those that were counted, and are gone since
				of := []attribute.KeyValue{attribute.String("pool", pool.Name()), attribute.String("upstream", u.Name)}
				o.ObserveInt64(draining, boolean(u.IsDraining()), metric.WithAttributes(of...))
				if c, ok := summary[place{pool.Name(), u.Name}]; ok {
					c.observe(o, owned, of)
				}
			}
		}
		return nil
	}, owned, draining, berths)
}

func (c Counts) observe(o metric.Observer, owned metric.Int64Observable, of []attribute.KeyValue) {
	for kind, n := range map[string]int{"task": c.Tasks, "session": c.Sessions, "stream": c.Streams, "request": c.Requests, "held": c.Held} {
		o.ObserveInt64(owned, int64(n), metric.WithAttributes(of...), metric.WithAttributes(attribute.String("kind", kind)))
	}
}

func boolean(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
