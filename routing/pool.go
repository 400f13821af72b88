package routing

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/otel/metric"
)

// ErrNoUpstream says that nothing is left to send unbound work to.
var ErrNoUpstream = errors.New("routing: no upstream available")

// PoolOptions are what a Pool is made of.
type PoolOptions struct {
	Name      string      // as bindings, logs and metrics have it
	Upstreams []*Upstream // the first ones; see Replace
	Picker    Picker      // nil: TwoChoices
	// Probe asks a silent upstream for any sign of life; nil: upstreams are never
	// taken for silent.
	Probe    func(ctx context.Context, u *Upstream) error
	Ejection Ejection             // when an upstream that fails gets no unbound work
	Logger   *slog.Logger         // nil: discarded
	Meter    metric.MeterProvider // nil: nothing is measured
}

// Pool is the set of upstreams that offer the same MCP server, interchangeable
// for new work.
type Pool struct {
	name     string
	picker   Picker
	probe    func(ctx context.Context, u *Upstream) error
	ejection Ejection
	log      *slog.Logger
	metrics  metrics
	suspects suspects
	silence  chan struct{} // holds one: an upstream has just fallen silent

	members atomic.Pointer[members]
	partial atomic.Bool // see SetPartial

	nobody [2]atomic.Int64 // by mcp.Era: until when, in Unix nanoseconds, no upstream is taken to speak it

	ejecting sync.Mutex // held while an ejection is weighed: two must not both be the last that may be
	changing sync.Mutex // guards the fields below, and is held while the members change
	known    map[string]*live
	drains   map[string]Drain // operators' marks by name; not changed
}

// NewPool returns a pool of the given upstreams.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{
		name:     o.Name,
		picker:   cmp.Or[Picker](o.Picker, TwoChoices{}),
		probe:    o.Probe,
		ejection: o.Ejection.withDefaults(),
		log:      cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		silence:  make(chan struct{}, 1),
		known:    make(map[string]*live),
	}
	p.become(o.Upstreams)
	p.metrics = newMetrics(o.Meter, p)
	return p
}

// Name returns the pool's name.
func (p *Pool) Name() string { return p.name }

// Upstreams returns those of the pool now. The slice must not be changed.
func (p *Pool) Upstreams() []*Upstream { return p.members.Load().all }

// Names are those of the pool's upstreams.
func (p *Pool) Names() (names []string) {
	for _, u := range p.Upstreams() {
		names = append(names, u.Name)
	}
	return names
}

// Find returns the upstream with this name, or nil.
func (p *Pool) Find(name string) *Upstream { return p.members.Load().byName[name] }

// Own takes a lease on an owner. Nothing stands against it: what an upstream owns
// it keeps, draining or ejected.
func (p *Pool) Own(u *Upstream) *Lease { return newLease(u) }
