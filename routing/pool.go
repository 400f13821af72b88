package routing

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"berth/internal/mcp"

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

	nobody [2]atomic.Int64 // by mcp.Era: until when, in Unix nanoseconds, no upstream is taken to speak it

	ejecting sync.Mutex // held while an ejection is weighed: two must not both be the last that may be
	changing sync.Mutex // guards the field below, and is held while the members change
	known    map[string]*live
}

// NewPool returns a pool of the given upstreams.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{
		name:     o.Name,
		picker:   o.Picker,
		probe:    o.Probe,
		ejection: o.Ejection.withDefaults(),
		log:      o.Logger,
		silence:  make(chan struct{}, 1),
		known:    make(map[string]*live),
	}
	p.become(o.Upstreams)
	if p.picker == nil {
		p.picker = TwoChoices{}
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
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

// Pick takes a lease for unbound work of an era on an upstream that is not in tried:
// prefer, if it is fit for new work, or the picker's choice. With none fit left
// it uses those that are ejected or silent; draining ones never. Those that have shown that
// they do not speak the era come last.
func (p *Pool) Pick(era mcp.Era, prefer string, tried []*Upstream) (*Lease, error) {
	u := p.choose(era, prefer, tried)
	if u == nil {
		return nil, ErrNoUpstream
	}
	return newLease(u), nil
}

// choose returns Pick's choice; nil: there is none.
func (p *Pool) choose(era mcp.Era, prefer string, tried []*Upstream) *Upstream {
	all := p.Upstreams()
	lowest, best, from := ranks, []*Upstream(nil), 0 // best is a part of all, from there on, as long as it can be
	for i, u := range all {
		if u.Draining || len(tried) > 0 && slices.ContainsFunc(tried, u.Is) {
			continue
		}
		rank := u.rank(era)
		switch {
		case rank == fit && u.Name == prefer:
			return u
		case rank < lowest:
			lowest, best, from = rank, all[i:i+1:i+1], i
		case rank == lowest && from+len(best) == i:
			best = all[from : i+1 : i+1]
		case rank == lowest:
			best, from = append(best, u), -len(all)
		}
	}
	if len(best) == 0 {
		return nil
	}
	return p.picker.Pick(best)
}

// How willingly an upstream is given unbound work: what it is unfit for is worse than any trouble.
const (
	fit     = 0
	unfit   = 1 // ejected or silent
	foreign = 2 // to the era of the work
	ranks   = 4
)

func (u *Upstream) rank(era mcp.Era) int {
	rank := fit
	if c := u.health.is(); c != well && (c.silent() || c.ejected()) {
		rank += unfit
	}
	if u.Profile().isForeign(era) {
		rank += foreign
	}
	return rank
}

// Succeeded notes that u answered, with nothing that counts against it.
func (p *Pool) Succeeded(u *Upstream) {
	p.Answered(u)
	if u.health.is() == well {
		return
	}
	readmitted := false
	u.health.change(func(c *condition) { readmitted = c.succeed() })
	if readmitted {
		p.log.Info("upstream takes new work again", "pool", p.name, "upstream", u.Name)
	}
}

// Answered notes that u has said something, be it that it is in trouble: it is not silent.
func (p *Pool) Answered(u *Upstream) {
	u.answers.Add(1)
	if !u.Silent() {
		return
	}
	back := false
	u.health.change(func(c *condition) { back = c.answer() })
	if back {
		u.profile.Store(nil) // it may be another server by now
		p.log.Info("upstream answers again", "pool", p.name, "upstream", u.Name)
	}
}

// FellSilent notes that u cannot be reached or does not answer in time. Until
// Run's probe, or any answer, ends it, owned calls need not wait for u, and unbound
// work goes elsewhere if it can. A pool that does not probe knows no silence.
func (p *Pool) FellSilent(u *Upstream, cause error) {
	if p.probe == nil {
		return
	}
	first := false
	u.health.change(func(c *condition) { first = c.fallSilent(cause) })
	if !first {
		return
	}
	select {
	case p.silence <- struct{}{}:
	default: // the one that waits there will do
	}
}
