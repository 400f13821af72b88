package site

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"berth/internal/auditlog"
	"berth/internal/bulletin"
	"berth/internal/certs"
	"berth/internal/config"
	"berth/internal/connlimit"
	"berth/internal/doors"
	"berth/internal/drain"
	"berth/internal/journal"
	"berth/internal/limit"
	"berth/internal/parts"
	"berth/internal/relay"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/trouble"
	"berth/internal/wire"
	"berth/internal/wire/nethttp"
	"berth/proxy"
	"berth/sticky"
	"berth/upgrade"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"
)

// Observers are who is told how it fares. The zero value tells nobody.
type Observers struct {
	Log    *slog.Logger
	Level  *journal.Level // of both loggers
	Access *slog.Logger
	Meter  metric.MeterProvider
	Tracer trace.TracerProvider

	Troubles *trouble.Book // nil: none are kept
	Deeds    *auditlog.Log // nil: it is off
}

// Site is what outlives a reading of the configuration. It serves clients by its newest generation.
type Site struct {
	Observers
	store      *storage.Store
	bindings   *sticky.Bindings
	keys       *seal.Keyring
	mailbox    *relay.Mailbox                // reaches the other berths
	certs      *certs.Certs                  // nil: clients are spoken to without TLS
	tasks      atomic.Pointer[upgrade.Tasks] // nil: no rule has made any so far
	storeTrust storeTrust
	secrets    map[string][sha256.Size]byte // of files that are read at the start alone, as they were then
	drains     *drain.Watch                 // what is left at upstreams
	board      *bulletin.Board
	self       Self        // what is told of this berth
	leaves     atomic.Bool // it is on its way out
	ids        *drain.IDs  // of tasks, as operators are shown them
	decisions  *proxy.Decisions
	parts      *parts.Parts // what generations share
	kept       []string     // keys of the parts that are the site's own
	badHeads   *doors.BadHeads
	now        atomic.Pointer[generation]
	first      *generation // until it serves

	serving     atomic.Int64        // that serve somebody
	loopback    bool                // the listener is there; set before the first is used
	connections *connlimit.Listener // nil: nobody bounds them
}

// connect connects what is for all generations, over store, which is the site's from then on. It reads
// files and opens no connection.
func connect(store Store, cfg config.Config, o Observers) (*Site, error) {
	keys, err := newKeyring(cfg.Store, store.Store)
	if err != nil {
		return nil, at("store.seal_key_file", fmt.Errorf("store: %w", err))
	}
	ids := drain.NewIDs(keys)
	s := &Site{Observers: o, store: store.Store, storeTrust: store.trust, keys: keys, ids: ids, decisions: new(proxy.Decisions), parts: parts.New(), bindings: sticky.New(store.Store, sticky.Options{
		Hide:        ids.Hide,
		Near:        cfg.Store.Near,
		MaxTTL:      time.Duration(cfg.Store.MaxTTL),
		SessionIdle: time.Duration(cfg.Store.SessionIdle),
		Logger:      o.Log,
		Meter:       o.Meter,
	})}
	s.mailbox = relay.New(store.Store, "", keys, o.Log)
	s.secrets = cfg.StartSecrets()
	store.OnRecover(s.mailbox.Recovered)
	s.badHeads = doors.NewBadHeads(o.Meter, func() *slog.Logger { return accessLog(s.now.Load().cfg.Log, o) })
	s.drains = drain.New(drain.Options{
		Name: s.mailbox.Name(), Store: s.store, Bindings: s.bindings, IDs: s.ids, Pools: s.pools, Reinit: s.reopens, Logger: s.Log, Meter: s.Meter,
	})
	s.board = bulletin.New(bulletin.Options{Store: s.store, Name: s.mailbox.Name(), Own: s.own, Log: s.Log})
	s.certs, err = openCerts(cfg.TLS, o)
	return s, eachAt("tls", "", err)
}

// New connects what is for all generations, over store, which is the site's from then on, makes the first of them, and sees
// to the tasks that the berth before this one held, where no other can. It serves nobody before [Site.Begin]. An error of files that the
// configuration names joins all that is wrong, each says of which key it is.
func New(ctx context.Context, store Store, cfg config.Config, o Observers) (*Site, error) {
	s, err := connect(store, cfg, o)
	if err != nil {
		return nil, err
	}
	if s.first, err = s.newGeneration(cfg); err != nil {
		return nil, err
	}
	return s, s.addTasks(ctx, s.first)
}

// Begin has the first generation serve. loopback says that the listener is there.
func (s *Site) Begin(loopback bool) {
	s.loopback = loopback
	s.use(s.first)
	s.first = nil
}

// Config is the configuration in use.
func (s *Site) Config() config.Config { return s.now.Load().cfg }

// Digest tells it from others.
func (s *Site) Digest() string { return s.now.Load().digest }

// use has g serve the requests that come from now on. One that is under way ends where it is. It is called
// by one at a time.
func (s *Site) use(g *generation) {
	g.become()
	s.adapt(g.cfg)
	before := s.now.Load()
	if before == nil {
		g.proxy = proxy.New(g.proxyOptions())
	} else {
		g.proxy = before.proxy.Next(g.proxyOptions())
	}
	_ = s.drains.Heed(context.Background(), g.pools()) // before any request: no new work where none is to go
	s.parts.BeginNew()
	s.serving.Add(1)
	s.now.Store(g)
	if before != nil {
		before.leave()
	}
}

// adapt has what is the site's own be as cfg says.
func (s *Site) adapt(cfg config.Config) {
	if s.Level != nil {
		s.Level.Configure(cfg.Log.EffectiveLevel())
	}
	s.bindings.SetPerCaller(keptSessions(cfg.Limits, limit.NewMemory().Limit(), inMemory(s.store)))
	if s.connections != nil {
		s.connections.SetBounds(cfg.Limits.ConnectionsPerAddress, trustedProxies(cfg))
	}
}

// ServeHTTP is Serve for net/http's server.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { nethttp.Serve(s, w, r) }

// Serve has the newest generation serve a request, to its end.
func (s *Site) Serve(w wire.Client, r *wire.Request) (whole bool) {
	g := s.newest()
	return g.proxy.ServeUntil(w, r, g.over)
}

// newest returns the newest generation, which is to be left.
func (s *Site) newest() *generation {
	for {
		if g := s.now.Load(); g.join() {
			return g
		}
	}
}

// Generations are how many serve somebody.
func (s *Site) Generations() int64 { return s.serving.Load() }

// Proxy is the newest generation's.
func (s *Site) Proxy() *proxy.Proxy { return s.now.Load().proxy }

func newKeyring(cfg config.Store, store *storage.Store) (*seal.Keyring, error) {
	key, err := cfg.ReadSealKey()
	if err != nil {
		return nil, err
	}
	if key == nil {
		return seal.NewStoredKeyring(store), nil
	}
	return seal.NewKeyring(key)
}

// Run runs what goes on beside requests until ctx ends. Bindings are written back a last time
// before it returns.
func (s *Site) Run(ctx context.Context) error {
	// The store outlives the bindings, which use it to the last.
	storeCtx, stopStore := context.WithCancel(context.WithoutCancel(ctx))
	storeDone := make(chan error, 1)
	go func() { storeDone <- s.store.Run(storeCtx) }()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.bindings.Run(ctx) })
	group.Go(func() error { return s.keys.Run(ctx) })
	group.Go(func() error { return s.drains.Run(ctx) })
	group.Go(func() error { return s.board.Run(ctx) })
	group.Go(func() error { return s.mailbox.Run(ctx, s.answerOther) })
	group.Go(func() error { return s.storeTrust.run(ctx) })
	if s.certs != nil {
		group.Go(func() error { return s.certs.Run(ctx) })
	}
	s.parts.Begin(ctx)
	err := group.Wait()
	s.parts.Wait()
	stopStore()
	if storeErr := <-storeDone; err == nil {
		err = storeErr
	}
	return err
}

// Close releases connections, and ends the servers that berth runs. Call it after Run has returned.
func (s *Site) Close() error {
	s.parts.Close()
	return s.store.Close()
}
