package routing

import "time"

// Succeeded notes that u answered, with nothing that counts against it.
func (p *Pool) Succeeded(u *Upstream) {
	p.Answered(u)
	if u.health.IsWell() {
		return
	}
	if u.health.Succeed() {
		p.log.Info("upstream takes new work again", "pool", p.name, "upstream", u.Name)
	}
}

// Answered notes that u has said something, be it that it is in trouble: it is not silent.
func (p *Pool) Answered(u *Upstream) {
	u.answers.Add(1)
	if !u.Silent() {
		return
	}
	if u.health.Answer() {
		u.profile.Forget() // it may be another server by now
		p.selection.freshen(u.live, time.Now())
		p.log.Info("upstream answers again", "pool", p.name, "upstream", u.Name)
	}
	p.room.letIn()
}

// FellSilent notes that u cannot be reached or does not answer in time. Until
// Run's probe, or any answer, ends it, owned calls need not wait for u, and unbound
// work goes elsewhere if it can. A pool that does not probe knows no silence.
func (p *Pool) FellSilent(u *Upstream, cause error) {
	if p.probe == nil || !u.health.FallSilent(cause) {
		return
	}
	select {
	case p.silence <- struct{}{}:
	default: // the one that waits there will do
	}
}

// NotStarted notes that berth cannot start u, which it hosts, and why. It counts as failing its checks, though there be none,
// until Run finds that it can be: what it has under way is not concerned.
func (p *Pool) NotStarted(u *Upstream, cause error) {
	if u.health.CannotStart(cause) {
		p.log.Warn("upstream cannot be started", "pool", p.name, "upstream", u.Name, "error", cause)
	}
}

func (p *Pool) started(u *Upstream) {
	u.health.CanStart()
	p.selection.freshen(u.live, time.Now())
	p.log.Info("upstream can be started again", "pool", p.name, "upstream", u.Name)
	p.room.letIn()
}
