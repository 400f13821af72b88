package site

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"berth/internal/config"
	"berth/internal/discover"
	"berth/proxy/resident"
	"berth/routing"
	"berth/sticky"

	"golang.org/x/sync/errgroup"
)

// fleet makes the upstreams of a pool: those that the configuration names, and those that are
// discovered beside them. Nothing else changes a pool's members.
type fleet struct {
	pool    *routing.Pool
	members *discover.Members
	others  func(pool, upstream string) int // how much all berths had under way there a moment ago; nil: nobody can tell

	mu         sync.Mutex // guards the fields below, and is held while the pool changes; the members' own lock comes before it
	membership membership
	found      []discover.Instance
	answered   bool
}

// membership is what one reading of the configuration says of a pool's upstreams.
type membership struct {
	named    []*routing.Upstream
	settings routing.Settings
	plan     discover.Plan
	era      string // of those discovered whose source does not say
}

// assignment is a fleet and what a generation says of it.
type assignment struct {
	fleet      *fleet
	membership membership
}

// assignMembers has the generation's pools have the upstreams that it says.
func (g *generation) assignMembers() {
	for _, m := range g.assigned {
		m.fleet.become(m.membership)
	}
}

// both runs two parts of one life.
func both(one, other func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return one(ctx) })
		group.Go(func() error { return other(ctx) })
		return group.Wait()
	}
}

func (g *generation) newFleet(name string) *fleet {
	f := &fleet{}
	if g.site.drains != nil {
		f.others = g.site.drains.UnderWay
	}
	f.members = discover.New(discover.Options{
		Pool: name, Holds: f.holds, Owns: owns(g.site.bindings, name), Changed: f.change, Directory: g.newDirectory(name), Logger: g.site.Log, Meter: g.site.Meter,
	})
	return f
}

// newDirectory returns where berths tell each other of a pool's instances; nil: nowhere.
func (g *generation) newDirectory(pool string) *discover.Directory {
	if g.site.store == nil { // nothing is served
		return nil
	}
	return discover.NewDirectory(g.site.store, pool, g.site.Log)
}

// owns tells for a pool whether an upstream that it may not have owns anything.
func owns(bindings *sticky.Bindings, pool string) func(context.Context, string) bool {
	return func(ctx context.Context, upstream string) bool {
		owned, err := bindings.Owned(ctx, pool, upstream)
		return err == nil && owned.Tasks+owned.Sessions > 0
	}
}

// newMembership reads what cfg says. It asks nothing.
func newMembership(cfg config.Pool) (m membership, err error) {
	if m.named, err = newUpstreams(cfg.Upstreams); err != nil {
		return m, err
	}
	if m.settings, err = poolSettings(cfg); err != nil {
		return m, err
	}
	m.era = cfg.Discover.Era
	m.plan, err = discoverPlan(cfg)
	m.plan.Named = instancesOf(m.named)
	return m, err
}

// become has what m says count from now on. What becomes of those that were named before and are no more, discover.Members.Follow says.
func (f *fleet) become(m membership) {
	f.pool.Configure(m.settings)
	f.mu.Lock()
	f.membership = m
	f.mu.Unlock()
	f.members.Follow(m.plan)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.compose()
}

// instancesOf are those of upstreams that outlive their configuration. One whose sessions live in this process ends with its table.
func instancesOf(named []*routing.Upstream) (list []discover.Instance) {
	for _, u := range named {
		if !resident.Is(u.URL) {
			i := discover.Instance{Name: u.Name, URL: u.URL, Era: eraNamed(u.Era), Draining: u.Draining, Backup: u.Backup, MaxInFlight: u.MaxInFlight}
			if u.Weight > 1 {
				i.Weight = u.Weight
			}
			list = append(list, i)
		}
	}
	return list
}

// change takes over what was discovered.
func (f *fleet) change(all []discover.Instance, answered bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found, f.answered = all, answered
	f.compose()
}

// compose replaces the pool's upstreams, under mu. One that the configuration names is not
// discovered beside itself; by the name that it had before it drains, for what it owns by that.
func (f *fleet) compose() {
	all := append([]*routing.Upstream(nil), f.membership.named...)
	taken := map[string]bool{}
	for _, u := range f.membership.named {
		taken[u.Name], taken[discover.Spot(u.URL)] = true, true
	}
	for _, i := range f.found {
		if taken[i.Name] || taken[discover.Spot(i.URL)] && !i.Left {
			continue
		}
		all = append(all, &routing.Upstream{
			Name: i.Name, URL: i.URL, Draining: i.Draining, Era: spoken[cmp.Or(i.Era, f.membership.era)], Weight: i.Weight, Backup: i.Backup,
			MaxInFlight: i.MaxInFlight,
		})
	}
	f.pool.SetPartial(f.membership.plan.Source != nil && !f.answered)
	f.pool.Replace(all)
}

// holds tells what is known of an upstream that left its source. What is under way there counts at whichever berth it is: another one
// may be the one that is to go on with it.
func (f *fleet) holds(name string) discover.Hold {
	u := f.pool.Find(name)
	if u == nil {
		return discover.Hold{Counted: time.Now()}
	}
	hold := discover.Hold{Owned: u.UnderWay().Sum(), Counted: time.Now(), Silent: u.DownFor()}
	if hold.Owned == 0 && f.others != nil {
		hold.Owned = f.others(f.pool.Name(), name)
	}
	if hold.Owned == 0 {
		hold.Owned, hold.Counted = ownedBy(u)
	}
	return hold
}

// lookEvery is how often an upstream that left is asked for a sign of life: nobody else may ask it
// for anything, and one that is gone is not to be kept for what it owned.
const lookEvery = 10 * time.Second

// Run follows what is discovered until ctx ends.
func (f *fleet) Run(ctx context.Context) error {
	return both(f.members.Run, f.watchLeaving)(ctx)
}

func (f *fleet) watchLeaving(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			f.look(ctx)
		}
	}
}

func (f *fleet) look(ctx context.Context) {
	var looking sync.WaitGroup
	for _, name := range f.members.Leaving() {
		if u := f.pool.Find(name); u != nil {
			looking.Go(func() { f.pool.Look(ctx, u) })
		}
	}
	looking.Wait()
}

func unanswered(status discover.Status) string {
	if status.Failure == nil {
		return status.Source + " has not answered yet"
	}
	return fmt.Sprintf("%s has not answered yet: %v", status.Source, status.Failure)
}

// ready says whether the pool is fit to serve, as far as its source goes.
func (f *fleet) ready() (bool, string) {
	status := f.members.Status()
	switch {
	case status.Source == "":
		return true, ""
	case !status.Answered && status.Stands && f.pool.TakesWork():
		return true, "those that are known already count: " + unanswered(status)
	case !status.Answered:
		return false, unanswered(status)
	case !f.pool.TakesWork() && status.Failure != nil:
		return false, fmt.Sprintf("%s does not answer since %s, and has told of no instance for new work: %v", status.Source, status.Since.UTC().Format("15:04:05Z"), status.Failure)
	case !f.pool.TakesWork():
		return false, fmt.Sprintf("%s tells of no instance for new work, %d drain", status.Source, len(f.pool.Upstreams()))
	case status.Failure != nil:
		return true, fmt.Sprintf("%s does not answer since %s, what it told last counts: %v", status.Source, status.Since.UTC().Format("15:04:05Z"), status.Failure)
	}
	return true, ""
}
