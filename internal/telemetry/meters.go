package telemetry

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// meters are a meter provider whose counters and histograms are berth's own: a series of theirs can be held, and costs an
// atomic addition or three then. The SDK looks an attribute set up with each measurement, in some ten functions. What
// they have measured, the SDK's reader asks Produce for, and names, units and exporters are the SDK's. Other instruments
// are the SDK's altogether.
type meters struct {
	metric.MeterProvider // the SDK's

	forgotten atomic.Uint64 // how often series were

	mu   sync.Mutex // guards the field below, and instruments of each
	list []*meter
}

// Forget has all instruments drop their series with these attributes, as those of who is gone for good.
func (p *meters) Forget(attributes ...attribute.KeyValue) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.list {
		for _, made := range m.made {
			made.forget(attributes)
		}
	}
	p.forgotten.Add(1) // whoever looks a series up before now does so once more
}

// Meter implements metric.MeterProvider.
func (p *meters) Meter(name string, o ...metric.MeterOption) metric.Meter {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.list {
		if m.scope.Name == name {
			return m
		}
	}
	m := &meter{Meter: p.MeterProvider.Meter(name, o...), scope: instrumentation.Scope{Name: name}, made: map[string]instrument{}, forgotten: &p.forgotten, mu: &p.mu}
	p.list = append(p.list, m)
	return m
}

// Produce implements the SDK's metric.Producer.
func (p *meters) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []metricdata.ScopeMetrics
	for _, m := range p.list {
		of := metricdata.ScopeMetrics{Scope: m.scope}
		for name, made := range m.made {
			if data := made.collect(now); data != nil {
				says := made.told()
				of.Metrics = append(of.Metrics, metricdata.Metrics{Name: name, Description: says.description, Unit: says.unit, Data: data})
			}
		}
		all = append(all, of)
	}
	return all, nil
}

// meter is the meter of one scope.
type meter struct {
	metric.Meter // the SDK's
	scope        instrumentation.Scope
	forgotten    *atomic.Uint64        // of all meters
	mu           *sync.Mutex           // guards the field below
	made         map[string]instrument // by name: who asks for one again is given the same
}

// instrument is a counter or a histogram.
type instrument interface {
	told() *meaning
	collect(now time.Time) metricdata.Aggregation // nil: it has no series
	forget(attributes []attribute.KeyValue)
}

// meaning is what an instrument says of itself.
type meaning struct {
	description, unit string
	since             time.Time
	forgotten         *atomic.Uint64
}

// Forgotten is how often series were forgotten, of this or another instrument.
func (m *meaning) Forgotten() *atomic.Uint64 { return m.forgotten }

func (m *meaning) told() *meaning { return m }

// Int64Counter implements metric.Meter.
func (m *meter) Int64Counter(name string, o ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	if c, err := m.Meter.Int64Counter(name, o...); err != nil {
		return c, err // the SDK judges names
	}
	says := metric.NewInt64CounterConfig(o...)
	return once(m, name, func() *counter {
		return &counter{meaning: meaning{says.Description(), says.Unit(), time.Now(), m.forgotten}, cells: newCells(func() *count { return new(count) })}
	}), nil
}

// Float64Histogram implements metric.Meter.
func (m *meter) Float64Histogram(name string, o ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	if h, err := m.Meter.Float64Histogram(name, o...); err != nil {
		return h, err
	}
	says := metric.NewFloat64HistogramConfig(o...)
	bounds := boundsOf(name, says)
	return once(m, name, func() *histogram {
		return &histogram{
			meaning: meaning{says.Description(), says.Unit(), time.Now(), m.forgotten}, bounds: bounds,
			cells: newCells(func() *times { return newTimes(bounds) }),
		}
	}), nil
}

// once returns the instrument of that name, which make makes if there is none. One of another kind stays by itself, and
// is shown by nobody: names of berth's own are not given twice.
func once[I instrument](m *meter, name string, make func() I) I {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.made[name].(I); ok {
		return known
	}
	made := make()
	if m.made[name] == nil {
		m.made[name] = made
	}
	return made
}
