package routing

import (
	"context"
	"sync"
	"time"
)

// Probing of silent upstreams.
const (
	probeEvery   = time.Second
	probeTimeout = time.Second
)

// Run probes silent upstreams until one answer ends their silence, and returns
// when ctx ends. A healthy fleet hears nothing from it. Upstreams are not observed any more then.
func (p *Pool) Run(ctx context.Context) error {
	defer p.metrics.end()
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.silence:
			p.probeSilent(ctx)
		case <-tick.C:
			p.probeSilent(ctx)
		}
	}
}

func (p *Pool) probeSilent(ctx context.Context) {
	var wg sync.WaitGroup
	for _, u := range p.Upstreams() {
		if u.Silent() {
			wg.Go(func() { p.probeOne(ctx, u) })
		}
	}
	wg.Wait()
}

func (p *Pool) probeOne(ctx context.Context, u *Upstream) {
	probing, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := p.manner.Load().Probe(probing, u)
	switch {
	case err == nil:
		p.Answered(u)
	case ctx.Err() != nil: // berth ends
	default:
		// Said once a silence, and only now: one slow answer is none.
		var cause error
		u.health.change(func(c *condition) { cause = c.confirm(err) })
		if cause != nil {
			p.log.Warn("upstream does not answer", "pool", p.name, "upstream", u.Name, "error", cause)
		}
	}
}
