package discover

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// Options say what [New] makes. Pool, Holds and Changed are required.
type Options struct {
	Pool string // in logs and metrics

	// Holds tells what berth knows of an instance that left. It must not block.
	Holds func(name string) Hold

	// Changed is given all instances, by name, and whether the source has answered, each time that
	// something of it has changed, one call after another. It must not call back.
	Changed func(all []Instance, answered bool)

	// Owns reports whether an instance that this pool may not have owns anything, as the store has it; false: nobody knows, too.
	// It is required with a Directory.
	Owns func(ctx context.Context, name string) bool

	Directory *Directory           // where berths tell each other of instances; nil: nowhere
	Logger    *slog.Logger         // nil: discarded
	Meter     metric.MeterProvider // nil: nothing is measured
}

// Members are the instances that a pool's source tells of, and those that it told of and that are
// not over yet. [Members.Follow] says which source. Its methods may be called concurrently.
type Members struct {
	o      Options
	follow chan struct{} // holds one: what is followed has changed

	counting sync.Once               // sets what follows, outside mu: who scrapes waits for mu
	counts   atomic.Pointer[metrics] // nil: there has been no source

	mu     sync.Mutex // guards the fields below, and is held while Changed is called
	begun  bool       // a plan has counted
	plan   Plan
	key    string // of the plan's source
	roster *roster
	status Status
	shown  []Instance // what Changed was given last
	whole  bool       // likewise
}

// Plan is what a reading of the configuration says of a pool's instances.
type Plan struct {
	Named  []Instance // those of which the configuration tells, not to be changed
	Source Source     // nil: none; those that one told of drain
	Key    string     // differs for sources that differ
	Rules  Rules
}

// Status is how a source does.
type Status struct {
	Source   string    // what is asked; "": nothing
	Answered bool      // it has answered since it is followed
	Stands   bool      // it has not, and what the source before told, or the configuration named, counts until then
	Last     time.Time // of the last answer; zero: none
	Failure  error     // why there was none since; nil: there was
	Since    time.Time // of the failure
}

// New returns members of which nobody has told yet. Run them.
func New(o Options) *Members {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return &Members{o: o, roster: newRoster(Rules{}), follow: make(chan struct{}, 1)}
}

// Follow has a plan count from now on. Instances that the source before told of, or that the plan before named, stay until a source
// that has not answered so far has; without such a source those that are named no more drain.
func (m *Members) Follow(p Plan) {
	if p.Source != nil {
		m.counting.Do(func() { m.counts.Store(newMetrics(m.o.Meter, m.o.Pool, m)) })
	} else {
		p.Key = ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	begun := m.begun
	m.begun, m.roster.rules = true, p.Rules
	left := m.roster.name(p.Named, p.Source != nil && (p.Key != m.key || !m.status.Answered), now)
	m.plan = p
	m.settle(left)
	m.o.Directory.hurry(false)
	if p.Key == m.key {
		return
	}
	stands := m.status.Answered || m.status.Stands || begun && m.key == ""
	m.key, m.status, m.roster.emptySince = p.Key, Status{}, time.Time{}
	if p.Source != nil {
		m.status.Source, m.status.Stands = p.Source.String(), stands
	} else {
		m.settle(m.roster.part(now))
	}
	select {
	case m.follow <- struct{}{}:
	default:
	}
}

// Status tells how the source does.
func (m *Members) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status
}

// settleEvery is how often those that left are looked at.
const settleEvery = time.Second

// Close ends what is measured. Call it after Run, or in its place.
func (m *Members) Close() { m.counts.Load().end() }

// Run follows the source until ctx ends.
func (m *Members) Run(ctx context.Context) error {
	var watching sync.WaitGroup
	defer watching.Wait()
	for ctx.Err() == nil {
		m.runOne(ctx, &watching)
	}
	return nil
}

// runOne follows the source as long as it is the same.
func (m *Members) runOne(ctx context.Context, watching *sync.WaitGroup) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	select {
	case <-m.follow: // it is what is followed from here on
	default:
	}
	if source, key := m.followed(); source != nil {
		watching.Go(func() {
			source.Watch(ctx, func(list []Instance, err error) { m.told(ctx, key, list, err) })
		})
	}
	watching.Go(func() { m.o.Directory.run(ctx, m) })
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.follow:
			return
		case <-tick.C:
			m.tick()
		}
	}
}

func (m *Members) followed() (Source, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.plan.Source, m.key
}

// told takes over what a source told, unless it is not followed any more.
func (m *Members) told(ctx context.Context, key string, list []Instance, err error) {
	if err == nil {
		m.o.Directory.announce(ctx, m, list)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if key != m.key {
		return
	}
	m.counts.Load().answers.Count(err)
	now := time.Now()
	if err != nil {
		if m.status.Failure == nil || m.status.Failure.Error() != err.Error() {
			m.o.Logger.Warn("instances could not be discovered, those known stay", "pool", m.o.Pool, "source", m.status.Source, "error", err)
		}
		if m.status.Failure == nil {
			m.status.Since = now
		}
		m.status.Failure = err
		m.roster.unsure()
		return
	}
	if m.status.Failure != nil {
		m.o.Logger.Info("instances are discovered again", "pool", m.o.Pool, "source", m.status.Source)
	}
	m.status = Status{Source: m.status.Source, Answered: true, Last: now}
	m.settle(m.roster.take(list, now))
}

// tick does what is due: an empty answer counts by now, and who left is over.
func (m *Members) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.settle(m.roster.confirm(now))
	c := m.roster.forget(m.o.Holds, now)
	m.settle(c)
	m.o.Directory.strike(c.over)
}

// settle tells of changes, under mu.
func (m *Members) settle(c Changes) {
	c.log(m.o.Logger, m.o.Pool)
	if len(c.Left) > 0 {
		m.o.Directory.hurry(true)
	}
	if now := m.roster.instances(); !equal(now, m.shown) || m.status.Answered != m.whole {
		m.shown, m.whole = now, m.status.Answered
		m.o.Changed(m.shown, m.whole)
	}
}

func (c Changes) log(log *slog.Logger, pool string) {
	for _, told := range []struct {
		what  string
		names []string
	}{
		{"instances discovered", c.Joined}, {"instances are back", c.Back}, {"instances are not ready for new work, they drain", c.Drains},
		{"instances left, they drain", c.Left}, {"instances are at another URL", c.Moved},
	} {
		if len(told.names) > 0 {
			log.Info(told.what, "pool", pool, "upstreams", told.names)
		}
	}
	for _, name := range sortedKeys(c.Forgotten) {
		log.Info("instance that left is forgotten", "pool", pool, "upstream", name, "because", c.Forgotten[name])
	}
}

// Ask takes over the first answer of the source that is followed, if there is none yet. It returns
// when that is there, or when ctx ends.
func (m *Members) Ask(ctx context.Context) {
	if source, key := m.followed(); source != nil && !m.Status().Answered {
		list, err := First(ctx, source)
		m.told(ctx, key, list, err)
	}
}

// Leaving are the names of those that their source does not tell of any more.
func (m *Members) Leaving() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.roster.leaving()
}
