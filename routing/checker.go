package routing

import (
	"context"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"berth/routing/health"
)

// examination is the checking of one upstream at one address in one way.
type examination struct {
	url  *url.URL
	by   health.Check
	stop context.CancelFunc
}

// runChecks checks the pool's upstreams until ctx ends, each in a goroutine of its own. One whose
// address changes, and all with the settings, are checked anew at once.
func (p *Pool) runChecks(ctx context.Context) {
	if p.examine == nil {
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	under := map[*live]examination{}
	for {
		by, members := p.settings.Load().Check, p.members.Load()
		for l, e := range under {
			if !members.hasAt(l, e.url) || e.by != by {
				e.stop()
				delete(under, l)
			}
		}
		for _, u := range members.all {
			if _, is := under[u.live]; is || by.Kind == health.CheckNone {
				continue
			}
			own, stop := context.WithCancel(ctx)
			under[u.live] = examination{u.URL, by, stop}
			running.Go(func() { p.keepExamining(own, u, by) })
		}
		select {
		case <-ctx.Done():
			for _, e := range under {
				e.stop()
			}
			return
		case <-p.rechecks:
		}
	}
}

// hasAt reports whether an upstream is a member, at that address.
func (m *members) hasAt(l *live, at *url.URL) bool {
	for _, u := range m.all {
		if u.live == l {
			return u.URL == at || u.URL != nil && at != nil && u.URL.String() == at.String()
		}
	}
	return false
}

// recheck has runChecks look at members and settings.
func (p *Pool) recheck() {
	select {
	case p.rechecks <- struct{}{}:
	default: // the one that waits there will do
	}
}

// keepExamining checks u until ctx ends.
func (p *Pool) keepExamining(ctx context.Context, u *Upstream, by health.Check) {
	for {
		pause := by.Interval
		if by.Jitter > 0 {
			pause += rand.N(by.Jitter)
		}
		next := time.NewTimer(pause)
		p.examineOne(ctx, u, by)
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
		}
	}
}

// examineOne checks u once.
func (p *Pool) examineOne(ctx context.Context, u *Upstream, by health.Check) {
	begun := time.Now()
	limit, cancel := context.WithTimeout(ctx, by.Timeout)
	defer cancel()
	err := p.examine(limit, u, by)
	p.changing.Lock()
	defer p.changing.Unlock()
	if ctx.Err() != nil || p.settings.Load().Check != by {
		return // nobody wants to know any more
	}
	p.metrics.checked(u, err)
	if err != nil {
		p.flunked(u, begun, by.Fall, err)
		return
	}
	p.passed(u, begun, by.Rise)
}

func (p *Pool) passed(u *Upstream, begun time.Time, rise int) {
	switch back, joined := u.health.Pass(begun, rise); {
	case !back:
		return
	case !joined || u.fresh.Load() != 0:
		p.freshen(u.live, time.Now())
	}
	p.log.Info("upstream passes its checks", "pool", p.name, "upstream", u.Name)
	p.room.letIn()
}

func (p *Pool) flunked(u *Upstream, begun time.Time, fall int, cause error) {
	if u.health.Flunk(begun, fall, cause) {
		p.log.Warn("upstream fails its checks", "pool", p.name, "upstream", u.Name, "error", cause)
	}
}

// trustAll has nobody fail checks any more.
func (p *Pool) trustAll() {
	for _, l := range p.known {
		l.health.Trust()
	}
}
