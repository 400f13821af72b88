package routing

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"berth/routing/health"
	"berth/routing/turns"

	"go.opentelemetry.io/otel/metric"
)

// ErrNoUpstream says that nothing is left to send unbound work to.
var ErrNoUpstream = errors.New("routing: no upstream available")

// PoolOptions are what a Pool is made of.
type PoolOptions struct {
	Name      string      // as bindings, logs and metrics have it
	Upstreams []*Upstream // the first ones; see Replace
	Settings              // the first ones; see Configure
	// Probe asks a silent upstream for any sign of life; nil: upstreams are never
	// taken for silent.
	Probe func(ctx context.Context, u *Upstream) error
	// Examine checks an upstream in that way, and says what is wrong with it; nil: upstreams are
	// never checked.
	Examine func(ctx context.Context, u *Upstream, c health.Check) error
	// Revive returns why a hosted upstream cannot be started, once it has tried whether that is over where it was so; nil: as far
	// as is known it can. The remark is what is to be told of one that can; "": nothing. A nil func: none is hosted.
	Revive func(ctx context.Context, u *Upstream) (remark string, err error)
	// Seek is called for a binding to an upstream of this name, which the pool does not have, and may
	// Replace its upstreams; nil: the pool knows all there are.
	Seek   func(ctx context.Context, name string)
	Logger *slog.Logger         // nil: discarded
	Meter  metric.MeterProvider // nil: nothing is measured
}

// Pool is the set of upstreams that offer the same MCP server, interchangeable
// for new work.
type Pool struct {
	name    string
	probe   func(ctx context.Context, u *Upstream) error
	revive  func(ctx context.Context, u *Upstream) (remark string, err error)
	log     *slog.Logger
	metrics metrics
	silence chan struct{} // holds one: an upstream has just fallen silent
	checker checker
	room    room

	selection selection
	seek      func(ctx context.Context, name string)
	settings  atomic.Pointer[Settings]
	members   atomic.Pointer[members]
	partial   atomic.Bool // see SetPartial

	began  time.Time       // when the pool was made
	nobody [2]atomic.Int64 // by mcp.Era: until when, in nanoseconds since then, no upstream is taken to speak it

	ejecting sync.Mutex // held while an ejection is weighed: two must not both be the last that may be
	changing sync.Mutex // guards the fields below; held while members or settings change, and while the result of a check is noted
	known    map[string]*live
	counted  []counted
	drains   map[string]Drain // operators' marks by name; not changed
}

// NewPool returns a pool of the given upstreams.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{
		name:    o.Name,
		began:   time.Now(),
		probe:   o.Probe,
		seek:    o.Seek,
		revive:  o.Revive,
		log:     cmp.Or(o.Logger, slog.New(slog.DiscardHandler)),
		silence: make(chan struct{}, 1),
		known:   make(map[string]*live),
	}
	p.room.pool, p.room.queue = p, turns.NewQueue[*waiter]()
	p.checker = checker{examine: o.Examine, settings: &p.settings, members: &p.members, changed: make(chan struct{}, 1), ended: p.examined}
	p.settings.Store(o.Settings.withDefaults())
	p.become(o.Upstreams, false)
	p.metrics = newMetrics(o.Meter, p)
	return p
}

// Close ends what is measured of the pool. Call it after Run, or in its place.
func (p *Pool) Close() { p.metrics.end() }

// Name returns the pool's name.
func (p *Pool) Name() string { return p.name }

// Upstreams returns those of the pool now. The slice must not be changed.
func (p *Pool) Upstreams() []*Upstream { return p.members.Load().all }

// Watched is Upstreams for who goes by them for longer: replaced is closed once others are in their place.
func (p *Pool) Watched() (all []*Upstream, replaced <-chan struct{}) {
	m := p.members.Load()
	return m.all, m.replaced
}

// Names are those of the pool's upstreams.
func (p *Pool) Names() (names []string) {
	for _, u := range p.Upstreams() {
		names = append(names, u.Name)
	}
	return names
}

// Find returns the upstream with this name, or nil.
func (p *Pool) Find(name string) *Upstream { return p.members.Load().find(name) }

// Owner returns the upstream of a name that a binding has, or nil. One that is not of the pool may
// have joined it where others look: that is found out first.
func (p *Pool) Owner(ctx context.Context, name string) *Upstream {
	u := p.Find(name)
	if u == nil && p.seek != nil && name != "" {
		p.seek(ctx, name)
		u = p.Find(name)
	}
	return u
}

// SetPartial says whether the pool may lack upstreams of its fleet, whose source has not answered
// yet. While it does nobody's denial of an id is final.
func (p *Pool) SetPartial(partial bool) { p.partial.Store(partial) }

// Own takes a lease on an owner. Nothing stands against it: what an upstream owns
// it keeps, draining or ejected.
func (p *Pool) Own(u *Upstream) *Lease { return newLease(u) }
