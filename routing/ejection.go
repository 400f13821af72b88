package routing

import (
	"time"

	"berth/routing/health"
)

// Failed notes that a request to u failed in this way.
func (p *Pool) Failed(u *Upstream, how health.Failure, cause error) {
	due, rule := false, &p.settings.Load().Ejection
	if how&rule.Ignore == 0 {
		due = u.health.Fail(rule)
	}
	if !due {
		return
	}
	d, first := p.eject(u, cause)
	if d == 0 {
		return
	}
	p.metrics.ejected(u)
	attributes := []any{"pool", p.name, "upstream", u.Name, "for", d.String(), "error", cause}
	if first {
		p.log.Warn("upstream ejected", attributes...)
		return
	}
	// It has not been well since: that is no change of its state.
	p.log.Debug("upstream ejected again", attributes...)
}

// eject takes u out of the choice for unbound work, unless it is out already or
// too many are. It returns for how long; 0 if it does not.
func (p *Pool) eject(u *Upstream, cause error) (d time.Duration, first bool) {
	p.ejecting.Lock()
	defer p.ejecting.Unlock()
	rule := &p.settings.Load().Ejection
	if u.Ejected() || !p.members.Load().mayEject(rule) {
		return 0, false
	}
	d, first = u.health.Eject(rule, cause)
	p.selection.freshen(u.live, time.Now().Add(d))
	return d, first
}

// mayEject keeps the rest of the pool in the choice.
func (m *members) mayEject(rule *health.Ejection) bool {
	out := 1
	for _, u := range m.all {
		if u.Ejected() {
			out++
		}
	}
	return 100*out <= rule.Percent*len(m.all)
}
