package routing

import (
	"cmp"
	"time"

	"berth/routing/health"
)

// Settings are what a pool goes by that may change while it serves. The zero value is the
// default.
type Settings struct {
	Picker     Picker          // nil: TwoChoices
	Ejection   health.Ejection // when an upstream that fails gets no unbound work
	Check      health.Check    // how it is found out which upstreams are well; the zero value: by requests alone
	SlowStart  time.Duration   // how long the share of an upstream that joined or came back grows; 0: it has all of it at once
	CountTasks bool            // live tasks count as load, as Upstream.Tasks has them

	MaxInFlight  int           // most requests under way at an upstream for which more unbound work comes; 0: any number
	Queue        int           // most calls that wait for room; 0: none waits
	QueueTimeout time.Duration // how long one waits at most; 0: 5 s
}

const queueTimeout = 5 * time.Second

func (s Settings) withDefaults() *Settings {
	s.Picker = cmp.Or[Picker](s.Picker, TwoChoices{})
	s.Ejection = s.Ejection.WithDefaults()
	s.Check = s.Check.WithDefaults()
	s.QueueTimeout = cmp.Or(s.QueueTimeout, queueTimeout)
	return &s
}

// Configure has the pool go by these settings from now on. Requests that are under way, and what
// counts against upstreams, stay as they are. Where checks begin, the upstreams that are there
// are trusted until they fail them; where checks end, nobody fails them any more.
func (p *Pool) Configure(s Settings) {
	p.changing.Lock()
	defer p.changing.Unlock()
	next := s.withDefaults()
	p.settings.Store(next)
	if next.Check.Kind == health.CheckNone {
		for _, l := range p.known {
			l.health.Trust()
		}
	}
	p.checker.again()
	p.room.letIn()
}

// Settings are what the pool goes by now.
func (p *Pool) Settings() Settings { return *p.settings.Load() }
