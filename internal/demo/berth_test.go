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
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/proxy"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"
)

// throughBerth is a front that is a real berth, over connections that dial makes.
func throughBerth(dial exchange.Dial) Front {
	return func(upstreams map[string]string, rules string) (http.Handler, func(), error) {
		parsed, err := parseRules(rules)
		if err != nil {
			return nil, nil, err
		}
		var pool []*routing.Upstream
		for name, address := range upstreams {
			u, err := url.Parse(address)
			if err != nil {
				return nil, nil, err
			}
			pool = append(pool, &routing.Upstream{Name: name, URL: u})
		}
		return newBerth(dial, pool, parsed)
	}
}

func overTCP() Front { return throughBerth(new(net.Dialer).DialContext) }

// parseRules reads what the demonstration needs of [[upgrade]] tables.
func parseRules(text string) (rules upgrade.Rules, err error) {
	cfg, err := config.Parse("rules", []byte(text), func(cfg *config.Config) {
		pool := config.DefaultPool()
		pool.Upstreams = []config.Upstream{{Name: "a", URL: "http://a/mcp"}}
		cfg.Pools = []config.Pool{pool}
	})
	for _, u := range cfg.Upgrades {
		rules = append(rules, upgrade.Rule{
			Tools: u.Tools, TTL: time.Duration(u.TTL), PollInterval: time.Duration(u.PollInterval),
			MaxResult: int64(u.MaxResult), Concurrency: u.Concurrency,
		})
	}
	return rules, err
}

// newBerth connects the parts, as internal/command does.
func newBerth(dial exchange.Dial, upstreams []*routing.Upstream, rules upgrade.Rules) (http.Handler, func(), error) {
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		return nil, nil, err
	}
	keys, client := seal.NewStoredKeyring(store), exchange.NewClientOver(dial, time.Second)
	pool := routing.NewPool(routing.PoolOptions{Name: "default", Upstreams: upstreams})
	bindings := sticky.New(store, sticky.Options{Near: 100})
	ep := &proxy.Endpoint{
		Path: endpointPath, Client: client,
		Router: &routing.Router{Pool: pool, Bindings: bindings, Asker: routing.NewAsker(pool)},
	}
	tasks := upgrade.New(upgrade.Options{
		Store: store, Keys: keys, Lease: time.Second,
		Pools: []upgrade.Pool{{Routing: pool, Transport: outbound.Transport(ep)}},
	})
	if err := tasks.Open(context.Background()); err != nil {
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{store.Run, pool.Run, bindings.Run, tasks.Run} {
		running.Go(func() { _ = run(ctx) })
	}
	options := proxy.Options{Endpoints: []*proxy.Endpoint{ep}, Keys: keys, Rules: rules, Tasks: tasks}
	return proxy.New(options), func() {
		stop()
		tasks.Drain(ctx)
		running.Wait()
		client.Close()
		_ = store.Close()
	}, nil
}
