package runner

import (
	"context"
	"slices"
	"time"

	"berth/internal/series"
	"berth/upgrade/task"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// heldStates are those that a held call's task may be in; one that asks its client while it runs waits for input.
var heldStates = []task.State{task.Queued, task.Accepted, task.Dispatched, task.InputRequired}

// glancedStates are all that glance may tell: for a moment, a task that has ended is held still.
var glancedStates = append(slices.Clip(heldStates), task.Completed, task.Failed, task.Cancelled)

// standing is a pool's tasks in one state.
type standing struct {
	pool  string
	state task.State
}

// stands is how many there are, and when the oldest was made.
type stands struct {
	n      int64
	oldest time.Time // zero: there is none
}

// stock counts the tasks whose calls are held here. It looks at each in memory, and waits for none.
func (r *Runner) stock() map[standing]stands {
	all := map[standing]stands{}
	for _, pool := range r.Pools.Current() {
		for _, state := range heldStates {
			all[standing{pool.Routing.Name(), state}] = stands{}
		}
	}
	for _, h := range r.Calls.All() {
		at := standing{h.pool, h.glance()}
		now := all[at]
		if now.n++; now.oldest.IsZero() || h.made.Before(now.oldest) {
			now.oldest = h.made
		}
		all[at] = now
	}
	return all
}

// glance is the task's state, or if a step is taken just now, the one that was seen last.
func (h *Held) glance() task.State {
	if h.mu.TryLock() {
		state := h.entry.State
		if len(h.entry.OpenAsks()) > 0 {
			state = task.InputRequired
		}
		h.mu.Unlock()
		h.glanced.Store(int32(slices.Index(glancedStates, state)))
	}
	return glancedStates[h.glanced.Load()]
}

// gauge shows stock, and what else stands in this process.
func (r *Runner) gauge(meter metric.Meter) {
	_, _ = meter.Int64ObservableGauge("berth.upgrade.holder", metric.WithDescription("Always 1; the label is the name by which this process holds calls."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(1, metric.WithAttributes(attribute.String("holder", r.ledger.Holder)))
			return nil
		}))
	live, _ := meter.Int64ObservableGauge("berth.upgrade.live",
		metric.WithDescription("Tasks whose calls this berth holds: queued, accepted (about to be sent), dispatched, input_required."))
	oldest, _ := meter.Float64ObservableGauge("berth.upgrade.oldest", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest task whose call this berth holds; 0: none."))
	_, _ = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := r.ledger.Clock.Now()
		for at, s := range r.stock() {
			of := metric.WithAttributeSet(attribute.NewSet(attribute.String("pool", at.pool), attribute.String("state", string(at.state))))
			o.ObserveInt64(live, s.n, of)
			age := 0.0
			if s.n > 0 {
				age = max(0, now.Sub(s.oldest).Seconds())
			}
			o.ObserveFloat64(oldest, age, of)
		}
		return nil
	}, live, oldest)
	series.Gauge(meter, "berth.upgrade.queues.paused", "Queues that are paused.", "", func() int64 { return int64(r.ledger.Pauses.Count()) })
	series.Gauge(meter, "berth.upgrade.held", "Calls held by this process.", "", func() int64 { return int64(r.Calls.Size()) })
	series.Gauge(meter, "berth.upgrade.kept", "Tasks that this berth counts until they expire, also those that have ended.", "", func() int64 { return int64(r.ledger.Quota.Total().Tasks) })
	series.Gauge(meter, "berth.upgrade.kept.bytes", "Bytes kept by the tasks that this berth counts.", "By", func() int64 { return r.ledger.Quota.Total().Bytes })
}
