package routing

import (
	"context"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"berth/routing/health"
)

// checker checks a pool's upstreams, as its settings say.
type checker struct {
	examine  func(ctx context.Context, u *Upstream, by health.Check) error // nil: nobody is checked
	settings *atomic.Pointer[Settings]
	members  *atomic.Pointer[members]
	changed  chan struct{}                                                                       // holds one: members or settings have just changed
	ended    func(ctx context.Context, u *Upstream, by health.Check, begun time.Time, err error) // is told of each check; ctx is that of them all
}

// examination is the checking of one upstream, as a list has it, in one way.
type examination struct {
	of   *Upstream
	by   health.Check
	stop context.CancelFunc
}

// run checks the upstreams until ctx ends, each in a goroutine of its own. One whose
// address changes, or what it is said to speak, and all with the settings, are checked anew at once.
func (c *checker) run(ctx context.Context) {
	if c.examine == nil {
		return
	}
	var running sync.WaitGroup
	defer running.Wait()
	under := map[*live]examination{}
	for {
		by, members := c.settings.Load().Check, c.members.Load()
		for l, e := range under {
			if !members.hasAs(l, e.of) || e.by != by {
				e.stop()
				delete(under, l)
			}
		}
		for _, u := range members.all {
			if _, is := under[u.live]; is || by.Kind == health.CheckNone {
				continue
			}
			own, stop := context.WithCancel(ctx)
			under[u.live] = examination{u, by, stop}
			running.Go(func() { c.keepExamining(own, u, by) })
		}
		select {
		case <-ctx.Done():
			for _, e := range under {
				e.stop()
			}
			return
		case <-c.changed:
		}
	}
}

// hasAs reports whether an upstream is a member, and a check of it as it was before is one of it as it is.
func (m *members) hasAs(l *live, before *Upstream) bool {
	for _, u := range m.all {
		if u.live == l {
			return u.Era == before.Era && u.Hosted == before.Hosted && isSame(u.URL, before.URL)
		}
	}
	return false
}

func isSame(a, b *url.URL) bool {
	return a == b || a != nil && b != nil && a.String() == b.String()
}

// again has run look at members and settings.
func (c *checker) again() {
	select {
	case c.changed <- struct{}{}:
	default: // the one that waits there will do
	}
}

// keepExamining checks u until ctx ends.
func (c *checker) keepExamining(ctx context.Context, u *Upstream, by health.Check) {
	for {
		pause := by.Interval
		if by.Jitter > 0 {
			pause += rand.N(by.Jitter)
		}
		next := time.NewTimer(pause)
		c.examineOne(ctx, u, by)
		select {
		case <-ctx.Done():
			next.Stop()
			return
		case <-next.C:
		}
	}
}

// examineOne checks u once.
func (c *checker) examineOne(ctx context.Context, u *Upstream, by health.Check) {
	begun := time.Now()
	limit, cancel := context.WithTimeout(ctx, by.Timeout)
	defer cancel()
	c.ended(ctx, u, by, begun, c.examine(limit, u, by))
}

// examined notes how a check ended that began then; ctx is over where nobody wants to know.
func (p *Pool) examined(ctx context.Context, u *Upstream, by health.Check, begun time.Time, err error) {
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
	case !joined || u.fresh.Load() != nil:
		p.selection.freshen(u.live, time.Now())
	}
	p.log.Info("upstream passes its checks", "pool", p.name, "upstream", u.Name)
	p.room.letIn()
}

func (p *Pool) flunked(u *Upstream, begun time.Time, fall int, cause error) {
	if u.health.Flunk(begun, fall, cause) {
		p.log.Warn("upstream fails its checks", "pool", p.name, "upstream", u.Name, "error", cause)
	}
}
