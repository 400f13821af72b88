package routing

import "context"

// Owner returns the upstream of a name that a binding has, or nil. One that is not of the pool may
// have joined it where others look: that is found out first.
func (p *Pool) Owner(ctx context.Context, name string) *Upstream {
	u := p.Find(name)
	if u == nil && p.seek != nil && name != "" {
		p.seek(ctx)
		u = p.Find(name)
	}
	return u
}

// SetPartial says whether the pool may lack upstreams of its fleet, whose source has not answered
// yet. While it does nobody's denial of an id is final.
func (p *Pool) SetPartial(partial bool) { p.partial.Store(partial) }

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
