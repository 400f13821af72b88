package admission

import (
	"context"

	"berth/internal/series"
	"berth/proxy/fault"
	"berth/proxy/inbound"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// rates counts what rules about tools have to do.
type rates struct {
	limited *series.Kept[string, series.Count] // by rule
	alone   *series.Kept[string, series.Count] // by rule
	refused series.Tally                       // by rule
}

func newRates(meter metric.Meter) *rates {
	ofRule := func(rule string) []attribute.KeyValue { return []attribute.KeyValue{attribute.String("rule", rule)} }
	limited, _ := meter.Int64Counter("berth.rate.limited", metric.WithDescription("Requests turned away: tools are called more often than a rule allows."))
	alone, _ := meter.Int64Counter("berth.rate.alone", metric.WithDescription("Requests that a rule counted in this process alone, because the store was away."))
	return &rates{limited: series.KeepCounts(limited, ofRule), alone: series.KeepCounts(alone, ofRule)}
}

// Begin has the counters of the endpoints' rules stand at 0.
func (g *Gate) Begin(endpoints []*inbound.Endpoint) {
	for _, ep := range endpoints {
		for _, rule := range ep.Rates {
			g.rates.alone.Of(rule.Limit.Name).Add(0)
			g.rates.limited.Of(rule.Limit.Name).Add(0)
		}
	}
}

// Charge counts the tools that the request calls by the rules that concern it, in their order. The
// first that has no room for all of its calls turns it away: what was counted before stays.
func (g *Gate) Charge(ctx context.Context, call *inbound.Call) error {
	for _, c := range call.Charges {
		name := c.Rule.Limit.Name
		wait, alone := c.Rule.Limit.Take(ctx, call.Subject(c.Rule.Per), c.Calls)
		if alone {
			g.rates.alone.Of(name).Add(1)
		}
		if wait > 0 {
			g.rates.limited.Of(name).Add(1)
			g.rates.refused.Add(name)
			return after(fault.TooManyToolCalls, wait)
		}
	}
	return nil
}
