package routing

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// ErrNoUpstream says that nothing is left to send unbound work to.
var ErrNoUpstream = errors.New("routing: no upstream available")

// PoolOptions are what a Pool is made of.
type PoolOptions struct {
	Name      string
	Upstreams []*Upstream
	Picker    Picker // nil: TwoChoices
	// Probe asks a silent upstream for any sign of life; nil: none is asked, and
	// silence ends with the next answer.
	Probe  func(ctx context.Context, u *Upstream) error
	Logger *slog.Logger // nil: discarded
	Meter  metric.MeterProvider
}

// Pool is the set of upstreams that offer the same MCP server, interchangeable
// for new work.
type Pool struct {
	name      string
	upstreams []*Upstream
	picker    Picker
	probe     func(ctx context.Context, u *Upstream) error
	log       *slog.Logger
	metrics   metrics
	silence   chan struct{} // holds one: an upstream has just fallen silent

	ejecting sync.Mutex // held while an ejection is weighed: two must not both be the last that may be
}

// NewPool returns a pool of the given upstreams.
func NewPool(o PoolOptions) *Pool {
	p := &Pool{
		name:      o.Name,
		upstreams: o.Upstreams,
		picker:    o.Picker,
		probe:     o.Probe,
		log:       o.Logger,
		silence:   make(chan struct{}, 1),
	}
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

// Upstreams returns the pool's upstreams. The slice must not be changed.
func (p *Pool) Upstreams() []*Upstream { return p.upstreams }

// Find returns the upstream with this name, or nil.
func (p *Pool) Find(name string) *Upstream {
	for _, u := range p.upstreams {
		if u.Name == name {
			return u
		}
	}
	return nil
}

// Own takes a lease on an owner. Nothing stands against it: what an upstream owns
// it keeps, draining or ejected.
func (p *Pool) Own(u *Upstream) *Lease { return newLease(u) }

// Pick takes a lease for unbound work on an upstream that is not in tried:
// prefer, if it is fit for new work, or the picker's choice. With none fit left
// it uses those that are ejected or silent; draining ones never.
func (p *Pool) Pick(prefer string, tried []*Upstream) (*Lease, error) {
	var fit, unfit []*Upstream
	now := time.Now()
	for _, u := range p.upstreams {
		switch {
		case u.Draining || slices.Contains(tried, u):
		case u.health.ejected(now), u.Silent():
			unfit = append(unfit, u)
		case u.Name == prefer:
			return newLease(u), nil
		default:
			fit = append(fit, u)
		}
	}
	if len(fit) == 0 {
		fit = unfit
	}
	if len(fit) == 0 {
		return nil, ErrNoUpstream
	}
	return newLease(p.picker.Pick(fit)), nil
}

// Succeeded notes that u answered, whatever it said.
func (p *Pool) Succeeded(u *Upstream) {
	if u.health.succeed() {
		p.log.Info("upstream answers again", "pool", p.name, "upstream", u.Name)
	}
}

// Failed notes that a request to u broke before an answer came, or that what came
// was the 503 of something overloaded, for example.
func (p *Pool) Failed(u *Upstream, cause error) {
	if !u.health.fail() {
		return
	}
	if d := p.eject(u); d > 0 {
		p.metrics.ejected(u)
		p.log.Warn("upstream ejected", "pool", p.name, "upstream", u.Name, "for", d.String(), "error", cause)
	}
}

// FellSilent notes that u cannot be reached or does not answer in time. Until
// Run's probe, or any answer, ends it, owned calls need not wait for u.
func (p *Pool) FellSilent(u *Upstream, cause error) {
	if p.probe == nil || !u.health.setSilent(errors.Is(cause, syscall.ECONNREFUSED)) {
		return
	}
	p.log.Warn("upstream does not answer", "pool", p.name, "upstream", u.Name, "error", cause)
	select {
	case p.silence <- struct{}{}:
	default: // the one that waits there will do
	}
}

// eject takes u out of the choice for unbound work, unless it is out already or
// too many are. It returns for how long; 0 if it does not.
func (p *Pool) eject(u *Upstream) time.Duration {
	p.ejecting.Lock()
	defer p.ejecting.Unlock()
	if u.Ejected() || !p.mayEject() {
		return 0
	}
	return u.health.eject()
}

// mayEject keeps at least half of the pool in the choice.
func (p *Pool) mayEject() bool {
	now := time.Now()
	out := 1
	for _, u := range p.upstreams {
		if u.health.ejected(now) {
			out++
		}
	}
	return 2*out <= len(p.upstreams)
}
