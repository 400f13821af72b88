package command

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"

	"berth/internal/certs"
	"berth/internal/config"
	"berth/internal/exchange"
	"berth/internal/relay"
	"berth/internal/seal"
	"berth/internal/stdio"
	"berth/internal/storage"
	"berth/proxy"
	"berth/proxy/bridge"
	"berth/proxy/outbound"
	"berth/proxy/polls"
	"berth/proxy/resident"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"
)

type observers struct {
	log    *slog.Logger
	access *slog.Logger
	meter  metric.MeterProvider
	tracer trace.TracerProvider
}

type graph struct {
	store    *storage.Store
	bindings *sticky.Bindings
	pools    []*routing.Pool
	clients  []exchange.Sender
	servers  []*stdio.Server    // that berth runs
	mailbox  *relay.Mailbox     // reaches the other berths
	certs    *certs.Certs       // nil: clients are spoken to without TLS
	trusts   map[string]*trusts // of the pools whose upstreams are spoken to by other TLS than the system's
	callers  *callers
	runners  []func(context.Context) error // what else goes on beside requests
	faces    []*proxy.Endpoint
	keys     *seal.Keyring
	tasks    *upgrade.Tasks // nil: no rule makes any
	proxy    *proxy.Proxy   // made by open
	taskID   int            // longest id of a task, in bytes
	log      *slog.Logger
}

// newGraph connects the parts that cfg asks for, over store, which is the graph's from then on;
// open completes it. It reads files and opens no connection.
func newGraph(store *storage.Store, cfg config.Config, o observers) (*graph, error) {
	keys, err := newKeyring(cfg.Store, store)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	g := &graph{store: store, keys: keys, log: o.log, taskID: cfg.Limits.TaskID, bindings: sticky.New(store, sticky.Options{
		Near:        cfg.Store.Near,
		MaxTTL:      time.Duration(cfg.Store.MaxTTL),
		SessionIdle: time.Duration(cfg.Store.SessionIdle),
		Logger:      o.log,
		Meter:       o.meter,
	})}
	g.mailbox = relay.New(store, "", keys, o.log)
	g.runners = append(g.runners, func(ctx context.Context) error { return g.mailbox.Run(ctx, g.answerOther) })
	if err := g.openCerts(cfg.TLS, o); err != nil {
		return nil, err
	}
	if g.callers, err = g.newCallers(cfg.Auth, o); err != nil {
		return nil, err
	}
	for _, pool := range cfg.Pools {
		ep, err := g.newEndpoint(cfg.Auth, pool, o)
		if err != nil {
			return nil, fmt.Errorf("pool %s: %w", pool.Name, err)
		}
		g.faces = append(g.faces, ep)
	}
	g.addTasks(cfg, o)
	return g, nil
}

func (g *graph) open(cfg config.Config, loopback bool, o observers) {
	options := proxyOptions(cfg, g.faces, loopback, o)
	options.Keys, options.Rules, options.Tasks = g.keys, upgradeRules(cfg), g.tasks
	g.proxy = proxy.New(options)
}

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

func proxyOptions(cfg config.Config, endpoints []*proxy.Endpoint, loopback bool, o observers) proxy.Options {
	return proxy.Options{
		Endpoints:      endpoints,
		Loopback:       loopback,
		TrustedProxies: trustedProxies(cfg),

		CredentialHeaders: cfg.Auth.CredentialHeaders,

		Limits: proxy.Limits{
			Body:       int64(cfg.Limits.Body),
			BodyRead:   time.Duration(cfg.Limits.BodyRead),
			Answer:     int64(cfg.Limits.Answer),
			WriteStall: time.Duration(cfg.Limits.WriteStall),
			Headers:    cfg.Limits.HeaderLines,
			TaskID:     cfg.Limits.TaskID,
			SessionID:  cfg.Limits.SessionID,
			Batch:      cfg.Limits.Batch,

			InFlight:          cfg.Limits.InFlight,
			InFlightPerCaller: cfg.Limits.InFlightPerCaller,
			Buffered:          int64(cfg.Limits.Buffered),
			Streams:           cfg.Limits.Streams,
			StreamsPerCaller:  cfg.Limits.StreamsPerCaller,
			Polls:             float64(cfg.Limits.Polls),
			UnknownIDs:        float64(cfg.Limits.UnknownIDs),
		},
		Stale:     polls.NewStaleCache(int(cfg.Limits.LastSeenEntry), int(cfg.Limits.LastSeenTotal)),
		Logger:    o.log,
		AccessLog: o.access,
		Meter:     o.meter,
		Tracer:    o.tracer,
	}
}

func trustedProxies(cfg config.Config) (trusted []netip.Prefix) {
	for _, prefix := range cfg.TrustedProxies {
		trusted = append(trusted, prefix.Prefix)
	}
	return trusted
}

func (g *graph) newEndpoint(auth config.Auth, cfg config.Pool, o observers) (*proxy.Endpoint, error) {
	picker, err := routing.NewPicker(cfg.Picker)
	if err != nil {
		return nil, err
	}
	upstreams, err := newUpstreams(cfg.Upstreams)
	if err != nil {
		return nil, err
	}
	client, err := g.newSender(cfg, o)
	if err != nil {
		return nil, err
	}
	pool := routing.NewPool(routing.PoolOptions{
		Name: cfg.Name, Upstreams: upstreams, Picker: picker, Probe: outbound.Probe(client), Ejection: ejection(cfg.Ejection),
		Logger: o.log, Meter: o.meter,
	})
	g.pools, g.clients = append(g.pools, pool), append(g.clients, client)
	ep := &proxy.Endpoint{
		Path:     cfg.Path,
		Hosts:    cfg.Hosts,
		Origins:  cfg.EffectiveOrigins(),
		Lenient:  cfg.Headers == config.HeadersLenient,
		Host:     cfg.Host,
		Affinity: cfg.AffinityHeaders(),
		Router: &routing.Router{
			Pool:       pool,
			Bindings:   g.bindings,
			Asker:      routing.NewAsker(pool),
			Principals: auth.Principals(),
			Recover:    auth.Recover == config.RecoverAsk,
		},
		Client: client,
		Timeouts: proxy.Timeouts{
			Read:    time.Duration(cfg.Timeouts.Read),
			Control: time.Duration(cfg.Timeouts.Control),
			Call:    time.Duration(cfg.Timeouts.Call),
			Quiet:   time.Duration(cfg.Timeouts.Quiet),
			Linger:  time.Duration(cfg.Timeouts.Linger),
		},
		OwnerGrace: time.Duration(cfg.OwnerGrace),
		Coalesce:   time.Duration(cfg.Coalesce),
		KeepAlive:  time.Duration(cfg.SSEKeepalive),
		Reinit:     cfg.SessionFailover == config.SessionReinit,

		FirstDraft:         cfg.FirstDraft,
		FleetNotifications: cfg.FleetNotifications,
	}
	g.addBridge(ep, cfg.Bridge, o)
	if ep.Identifier, ep.Resource, err = g.callers.at(cfg); err != nil {
		return ep, err
	}
	ep.Authorization, err = g.newAuthorization(cfg, o)
	return ep, err
}

// addBridge has modern clients reach upstreams of the legacy era.
func (g *graph) addBridge(ep *proxy.Endpoint, cfg config.Bridge, o observers) {
	b := bridge.New(bridge.Options{
		Endpoint: ep, Keys: g.keys, Store: g.store, Relay: g.mailbox, Isolation: bridge.Isolation(cfg.SessionIsolation), Sessions: cfg.Sessions,
		Idle: time.Duration(cfg.Idle), Question: time.Duration(cfg.Question), TaskID: g.taskID, Logger: o.log, Meter: o.meter,
	})
	ep.Bridge = b
	g.runners = append(g.runners, b.Run)
}

var spoken = map[string]routing.Spoken{config.EraModern: routing.SpokenModern, config.EraLegacy: routing.SpokenLegacy}

func newUpstreams(cfg []config.Upstream) ([]*routing.Upstream, error) {
	var upstreams []*routing.Upstream
	for _, u := range cfg {
		for _, name := range u.Names() {
			target, err := targetOf(u, name)
			if err != nil {
				return nil, fmt.Errorf("upstream %s: %w", name, err)
			}
			era := spoken[u.Era]
			if resident.Is(target) {
				era = routing.SpokenLegacy
			}
			upstreams = append(upstreams, &routing.Upstream{Name: name, URL: target, Draining: u.Drain, Era: era})
		}
	}
	return upstreams, nil
}

// targetOf is where an instance is reached.
func targetOf(u config.Upstream, name string) (*url.URL, error) {
	if len(u.Command) > 0 {
		return &url.URL{Scheme: resident.SchemeStdio, Path: "/" + name}, nil
	}
	return url.Parse(u.URL)
}

// Run runs what goes on beside requests until ctx ends. Bindings are written back a last time
// before it returns.
func (g *graph) Run(ctx context.Context) error {
	// The store outlives the bindings, which use it to the last.
	storeCtx, stopStore := context.WithCancel(context.WithoutCancel(ctx))
	storeDone := make(chan error, 1)
	go func() { storeDone <- g.store.Run(storeCtx) }()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return g.bindings.Run(ctx) })
	for _, pool := range g.pools {
		group.Go(func() error { return pool.Run(ctx) })
	}
	for _, run := range g.runners {
		group.Go(func() error { return run(ctx) })
	}
	err := group.Wait()
	stopStore()
	if storeErr := <-storeDone; err == nil {
		err = storeErr
	}
	return err
}

// endTime bounds how long servers that berth runs have to end.
const endTime = 10 * time.Second

// Close releases connections, and ends the servers that berth runs. Call it after Run has returned.
func (g *graph) Close() error {
	g.endServers()
	g.closeClients()
	return g.store.Close()
}

// endServers ends the servers that berth runs; those that do not in time are killed.
func (g *graph) endServers() {
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	var ending sync.WaitGroup
	for _, server := range g.servers {
		ending.Go(func() { _ = server.Shutdown(ctx) })
	}
	ending.Wait()
}

func (g *graph) closeClients() {
	for _, client := range g.clients {
		client.Close()
	}
}

var failures = map[string]routing.Failure{
	config.EjectOnConnect: routing.FailedConnect,
	config.EjectOnTimeout: routing.FailedTimeout,
	config.EjectOn5xx:     routing.FailedStatus,
}

func ejection(cfg config.Ejection) routing.Ejection {
	e := routing.Ejection{
		Failures: cfg.Failures,
		Window:   time.Duration(cfg.Window),
		Min:      time.Duration(cfg.Min),
		Max:      time.Duration(cfg.Max),
		Percent:  cfg.Percent,
	}
	for outcome, failure := range failures {
		if !slices.Contains(cfg.On, outcome) {
			e.Ignore |= failure
		}
	}
	return e
}
