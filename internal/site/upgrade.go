package site

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"berth/internal/config"
	"berth/internal/limit"
	"berth/internal/parts"
	"berth/internal/storage"
	"berth/proxy/audit"
	"berth/proxy/outbound"
	"berth/proxy/resident"
	"berth/routing"
	"berth/upgrade"
)

// forgetsTasks is what rules on memory: cost. Nobody else knows of an upgraded task.
const forgetsTasks = "upgraded tasks are kept in memory: a restart forgets them and their results, and loses the calls " +
	"that are running, whose tools may have run (--store file:PATH or redis://… keeps them)"

func upgradeRules(cfg config.Config) upgrade.Rules {
	rules := make(upgrade.Rules, len(cfg.Upgrades))
	for i, u := range cfg.Upgrades {
		rules[i] = upgrade.Rule{
			Pool:             u.Pool,
			Tools:            u.Tools,
			After:            time.Duration(u.After),
			RefusalGrace:     time.Duration(u.RefusalGrace),
			Required:         u.Required,
			TTL:              time.Duration(u.TTL),
			MaxTTL:           time.Duration(u.EffectiveMaxTTL(cfg.Store.MaxTTL)),
			PollInterval:     time.Duration(u.PollInterval),
			Timeout:          time.Duration(u.EffectiveTimeout()),
			MaxResult:        int64(u.MaxResult),
			Concurrency:      u.Concurrency,
			OnOrphan:         upgrade.OrphanPolicy(u.OnOrphan),
			OnStoreDown:      upgrade.StorePolicy(u.EffectiveOnStoreDown()),
			LivePerPrincipal: u.LivePerPrincipal,
			LivePerProcess:   u.LivePerProcess,
			Webhooks:         webhooksOf(u),
		}
	}
	return rules
}

// ofMemory is the share of the memory limit, as a divisor, that held calls may take, and what tasks
// keep in memory.
const ofMemory = 4

const maxLent = 256 << 20

// keptBounds are what tasks may keep in a process with this memory limit; 0: it has none.
func keptBounds(l config.Limits, memory int64, inMemory bool) upgrade.Bounds {
	b := upgrade.Bounds{Tasks: l.KeptTasks, TasksPerCaller: l.KeptTasksPerCaller, Bytes: int64(l.Kept), Lent: maxLent}
	if memory > 0 {
		b.Lent = min(b.Lent, memory/(2*ofMemory))
		b.Held = max(memory/ofMemory, 4*int64(l.Body))
		b.HeldPerCaller = b.Held / 2
	}
	if memory > 0 && inMemory {
		b.Bytes = min(b.Bytes, b.Held)
	}
	b.LentPerCaller = b.Lent / 2
	b.BytesPerCaller = min(int64(l.KeptPerCaller), b.Bytes/2)
	return b
}

// gcPercent is how much a berth with rules lets its heap grow between two collections, unless GOGC
// says otherwise: held calls wait, and what was left from making them would stay as long. 5,000 of
// them fit into 200 MiB so, and into 240 by default.
const gcPercent = 50

// addTasks has the site make tasks if a rule of g's does, and sees to those that the berth before this
// one held, where no other can. Tasks are there from then on, be there rules or not: what was begun is to
// end.
func (s *Site) addTasks(ctx context.Context, g *generation) error {
	if tasks := s.tasks.Load(); tasks != nil {
		g.then(func() { tasks.Change(g.taskPools(), boundsOf(g.cfg, s.store), g.receivers) })
		return nil
	}
	if len(g.cfg.Upgrades) == 0 {
		return nil
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	memory := limit.NewMemory().Limit()
	options := upgrade.Options{
		Name: s.mailbox.Name(), Store: s.store, Keys: s.keys, Lease: time.Duration(g.cfg.Store.HolderLease), Logger: s.Log, Meter: s.Meter, Pools: g.taskPools(),
		Kept: boundsOf(g.cfg, s.store), Troubles: s.Troubles, Traced: audit.TraceRounds(s.Tracer), Receivers: g.receivers,
	}
	if memory > 0 {
		options.Unsaved = memory / (2 * ofMemory)
	}
	tasks := upgrade.New(options)
	if err := tasks.Open(ctx); err != nil {
		return fmt.Errorf("tasks of the berth before: %w", err)
	}
	s.tasks.Store(tasks)
	run := func(name string, run func(context.Context) error) error {
		_, err := parts.Share(s.parts, &s.kept, name, func() (struct{}, parts.Life, error) { return struct{}{}, parts.Life{Run: run}, nil })
		return err
	}
	return errors.Join(run("tasks", tasks.Run), run("eviction", func(ctx context.Context) error {
		return warnOfEviction(ctx, s.Log, s.store.Health)
	}))
}

// boundsOf are what tasks may keep in this process.
func boundsOf(cfg config.Config, store *storage.Store) upgrade.Bounds {
	return keptBounds(cfg.Limits, limit.NewMemory().Limit(), inMemory(store))
}

// inMemory reports whether what store keeps is in this process's memory.
func inMemory(store *storage.Store) bool { return !store.Shared() && !store.Durable() }

// taskPools are where the calls of tasks are sent.
func (g *generation) taskPools() (pools []upgrade.Destination) {
	for _, ep := range g.faces {
		pools = append(pools, upgrade.Destination{
			Routing: ep.Router.Pool, Transport: outbound.Transport(ep), OwnCredentials: ep.Authorization != nil,
			Tied: func(u *routing.Upstream) bool { return resident.Is(u.URL) },
		})
	}
	return pools
}

// DrainTasks waits for the calls that are held, until ctx ends. What is left then is cut.
func (s *Site) DrainTasks(ctx context.Context) {
	if tasks := s.tasks.Load(); tasks != nil {
		tasks.Drain(ctx)
	}
}

func announceUpgrades(log *slog.Logger, rules upgrade.Rules, store *storage.Store, tasks *upgrade.Tasks) {
	if tasks != nil {
		log.Info("calls are held by this berth", "holder", tasks.Holder())
	}
	for _, rule := range rules {
		log.Info("calls of these tools become tasks", "tools", rule.Tools, "pool", rule.Pool, "after", rule.After.String(), "required", rule.Required, "webhooks", namesOf(rule.Webhooks))
	}
	if len(rules) > 0 && !store.Shared() && !store.Durable() {
		log.Warn(forgetsTasks)
	}
}

func lookAtRules(cfg config.Config) []Finding {
	url, _, _ := cfg.Store.EffectiveURL(StateDirectory())
	if len(cfg.Upgrades) == 0 || url != "memory:" {
		return nil
	}
	return []Finding{{Key: "upgrade", Text: forgetsTasks, Warning: true}}
}

// evictionEvery is how often it is looked. The server is asked less often.
const evictionEvery = time.Second

// warnOfEviction says, until ctx ends, when calls are not upgraded because the store drops keys. A
// dropped binding can be asked for in the fleet; a task cannot, and its tool would have run in
// vain.
func warnOfEviction(ctx context.Context, log *slog.Logger, health func() storage.Health) error {
	for told := ""; ; {
		switch policy := health().Evicts; {
		case policy == told:
		case policy == "":
			log.Info("calls are upgraded again: the store keeps all tasks")
			told = ""
		default:
			log.Warn("calls are not upgraded: the store drops tasks when its memory is full", "maxmemory-policy", policy)
			told = policy
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(evictionEvery):
		}
	}
}
