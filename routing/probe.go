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

// Run checks upstreams, as the settings say, probes silent ones until one answer ends their
// silence, and has hosted ones started that could not be. It returns when ctx ends. A healthy fleet
// without checks hears nothing from it.
func (p *Pool) Run(ctx context.Context) error {
	var checking sync.WaitGroup
	defer checking.Wait()
	checking.Go(func() { p.checker.run(ctx) })
	tick := time.NewTicker(probeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.silence:
			p.look(ctx)
		case <-tick.C:
			p.room.letIn() // what ends by the clock tells nobody
			p.look(ctx)
		}
	}
}

// look probes the silent, and asks for the hosted, all at once.
func (p *Pool) look(ctx context.Context) {
	var wg sync.WaitGroup
	for _, u := range p.Upstreams() {
		if u.Silent() {
			wg.Go(func() { p.probeOne(ctx, u) })
		}
		if u.Hosted && p.revive != nil {
			wg.Go(func() { p.reviveOne(ctx, u) })
		}
	}
	wg.Wait()
}

func (p *Pool) probeOne(ctx context.Context, u *Upstream) {
	probing, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	err := p.probe(probing, u)
	switch {
	case err == nil:
		p.Answered(u)
	case ctx.Err() != nil: // berth ends
	default:
		// Said once a silence, and only now: one slow answer is none.
		if cause := u.health.Confirm(err); cause != nil {
			p.log.Warn("upstream does not answer", "pool", p.name, "upstream", u.Name, "error", cause)
		}
	}
}

func (p *Pool) reviveOne(ctx context.Context, u *Upstream) {
	reviving, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	was := u.health.Unstarted() // what shows meanwhile is newer
	remark, err := p.revive(reviving, u)
	u.health.Remark(remark)
	switch {
	case ctx.Err() != nil: // berth ends
	case err != nil:
		p.NotStarted(u, err)
	case was:
		p.started(u)
	}
}

// Look asks u for a sign of life, as a silent one is asked, and notes if there is none.
func (p *Pool) Look(ctx context.Context, u *Upstream) {
	if p.probe == nil || u.Silent() {
		return
	}
	probing, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if err := p.probe(probing, u); err != nil && ctx.Err() == nil {
		p.FellSilent(u, err)
	}
}
