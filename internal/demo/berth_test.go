package demo

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"berth/internal/config"
	"berth/internal/exchange"
	"berth/internal/h1/h1test"
	"berth/internal/relay"
	"berth/internal/seal"
	"berth/internal/stdio"
	"berth/internal/storage"
	"berth/internal/wire/nethttp"
	"berth/proxy"
	"berth/proxy/bridge"
	"berth/proxy/outbound"
	"berth/proxy/resident"
	"berth/routing"
	"berth/routing/claim"
	"berth/routing/profile"
	"berth/sticky"
	"berth/upgrade"
)

// throughBerth is a front that is a real berth, over connections that dial makes.
func throughBerth(dial exchange.Dial) Front {
	return func(upstreams map[string]string, tables string) (http.Handler, func(), error) {
		cfg, err := parseTables(tables)
		if err != nil {
			return nil, nil, err
		}
		if len(upstreams) == 0 {
			return newBerth(dial, nil, cfg.Pools[0].Upstreams, rulesOf(cfg))
		}
		var pool []*routing.Upstream
		for name, address := range upstreams {
			u, err := url.Parse(address)
			if err != nil {
				return nil, nil, err
			}
			pool = append(pool, &routing.Upstream{Name: name, URL: u})
		}
		return newBerth(dial, pool, nil, rulesOf(cfg))
	}
}

func overTCP() Front { return throughBerth(new(net.Dialer).DialContext) }

// parseTables reads tables, which get a pool if they have none.
func parseTables(text string) (config.Config, error) {
	return config.Parse("tables", []byte(text), func(cfg *config.Config) {
		if len(cfg.Pools) == 0 {
			pool := config.DefaultPool()
			pool.Upstreams = []config.Upstream{{Name: "a", URL: "http://a/mcp", Weight: 1}}
			cfg.Pools = []config.Pool{pool}
		}
	})
}

// rulesOf is what the demonstration needs of [[upgrade]] tables.
func rulesOf(cfg config.Config) (rules upgrade.Rules) {
	for _, u := range cfg.Upgrades {
		rules = append(rules, upgrade.Rule{
			Tools: u.Tools, TTL: time.Duration(u.TTL), PollInterval: time.Duration(u.PollInterval),
			MaxResult: int64(u.MaxResult), Concurrency: u.Concurrency,
		})
	}
	return rules
}

// newBerth connects the parts, as internal/site does. The commands are of servers that it runs.
func newBerth(dial exchange.Dial, upstreams []*routing.Upstream, commands []config.Upstream, rules upgrade.Rules) (http.Handler, func(), error) {
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		return nil, nil, err
	}
	keys := seal.NewStoredKeyring(store)
	sender := &resident.Sender{
		HTTP: h1test.NewSender(dial, time.Second), Stdio: map[string]exchange.Sender{}, Mailbox: relay.New(store, "", keys, nil),
	}
	var servers []*stdio.Server
	for _, u := range commands {
		server := stdio.New(stdio.Options{Name: u.Name, Command: u.Command, SessionPrefix: resident.Prefix(sender.Mailbox.Name())})
		servers, sender.Stdio["/"+u.Name] = append(servers, server), server
		target := &url.URL{Scheme: resident.SchemeStdio, Path: "/" + u.Name}
		upstreams = append(upstreams, &routing.Upstream{Name: u.Name, URL: target, Era: profile.SpokenLegacy})
	}
	pool := routing.NewPool(routing.PoolOptions{Name: "default", Upstreams: upstreams})
	bindings := sticky.New(store, sticky.Options{Near: 100})
	ep := &proxy.Endpoint{
		Path: endpointPath, Client: sender,
		Router: &routing.Router{Pool: pool, Guard: claim.Guard{Bindings: bindings}, Asker: routing.NewAsker(pool)},
	}
	b := bridge.New(bridge.Options{Endpoint: ep, Keys: keys})
	ep.Bridge = b
	tasks := upgrade.New(upgrade.Options{
		Store: store, Keys: keys, Lease: time.Second,
		Pools: []upgrade.Destination{{Routing: pool, Transport: outbound.Transport(ep)}},
	})
	if err := tasks.Open(context.Background()); err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{store.Run, pool.Run, bindings.Run, tasks.Run, b.Run} {
		running.Go(func() { _ = run(ctx) })
	}
	options := proxy.Options{Endpoints: []*proxy.Endpoint{ep}, Keys: keys, Rules: rules, Tasks: tasks}
	return nethttp.Carry(proxy.New(options)), func() {
		stop()
		tasks.Drain(ctx)
		running.Wait()
		for _, server := range servers {
			_ = server.Shutdown(context.Background())
		}
		sender.Close()
		_ = store.Close()
	}, nil
}
