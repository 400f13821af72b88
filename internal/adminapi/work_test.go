package adminapi_test

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"testing"
	"time"

	"berth/internal/adminapi"
	"berth/internal/api"
	"berth/internal/bulletin"
	"berth/internal/drain"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"

	"go.opentelemetry.io/otel/metric"
)

// workRig is a berth as far as operators see it: two pools with two upstreams each, and a rule that makes tasks in
// the first.
type workRig struct {
	store    *storage.Store
	bindings *sticky.Bindings
	tasks    *upgrade.Tasks
	rule     upgrade.Rule
	cancel   func(ctx context.Context, pool, upstream, id string) error
	payloads bool
	drains   *drain.Watch
	*operator
}

func newWorkRig(t *testing.T, storeURL string, meter metric.MeterProvider) *workRig {
	t.Helper()
	store, err := storage.Open(storeURL, storage.Options{MeterProvider: meter, Timeout: time.Minute}) // no machine is that slow
	if err != nil {
		t.Fatal(err)
	}
	keys := seal.NewStoredKeyring(store)
	ids := drain.NewIDs(keys)
	r := &workRig{store: store, bindings: sticky.New(store, sticky.Options{Hide: ids.Hide, Near: 100})}
	var pools []*routing.Pool
	for _, name := range []string{"p", "q"} {
		var upstreams []*routing.Upstream
		for _, u := range []string{"a", "b"} {
			upstreams = append(upstreams, &routing.Upstream{Name: u, URL: &url.URL{Scheme: "http", Host: u}})
		}
		pools = append(pools, routing.NewPool(routing.PoolOptions{Name: name, Upstreams: upstreams}))
	}
	all := func() []*routing.Pool { return pools }
	r.rule = upgrade.Rule{Tools: []string{"slow"}, Pool: "p", TTL: 3_600_000_000_000, MaxResult: 1 << 20, Concurrency: 1}
	r.tasks = upgrade.New(upgrade.Options{Store: store, Keys: keys, Pools: []upgrade.Destination{{
		Routing: pools[0], OwnCredentials: true,
		Transport: upgrade.Transport{Send: func(ctx context.Context, _ *routing.Upstream, c *upgrade.Call, _ int64) (upgrade.Exchange, error) {
			return exchange{ctx, c}, nil
		}},
	}}})
	ctx, end := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = r.tasks.Run(ctx)
	}()
	t.Cleanup(func() {
		stopped, cut := context.WithCancel(context.Background())
		cut()
		r.tasks.Drain(stopped)
		end()
		<-over
		_ = store.Close()
	})
	r.drains = drain.New(drain.Options{Name: "me", Store: store, Bindings: r.bindings, IDs: ids, Pools: all})
	answers := adminapi.New(adminapi.Options{
		Pools: all, Reopens: func(pool string) bool { return pool == "q" }, Payloads: func() bool { return r.payloads },
		Drains: r.drains, Store: store,
		Board:      bulletin.New(bulletin.Options{Store: store, Name: "me", Own: func() api.Berth { return api.Berth{State: bulletin.Serving} }}),
		PoolConfig: func(string) adminapi.PoolConfig { return adminapi.PoolConfig{} },
		Ready:      func() (bool, []string) { return true, nil },
		Work: adminapi.Work{
			Bindings: r.bindings, IDs: ids, Tasks: func() *upgrade.Tasks { return r.tasks }, Rules: func() upgrade.Rules { return upgrade.Rules{r.rule} },
			CancelTask: func(ctx context.Context, pool, upstream, id string) error { return r.cancel(ctx, pool, upstream, id) },
		},
	})
	r.operator = newOperator(t, answers.Routes())
	return r
}

// exchange is an upstream's answer to a call: one whose argument is "fail" fails, another runs until it is given
// up.
type exchange struct {
	ctx context.Context
	c   *upgrade.Call
}

func (e exchange) Next() (upgrade.Message, error) {
	if bytes.Contains(e.c.Body, []byte("fail")) {
		return upgrade.Message{Whole: true, Data: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"it failed"}}`, e.c.ID)}, nil
	}
	<-e.ctx.Done()
	return upgrade.Message{}, context.Cause(e.ctx)
}

func (exchange) Close() {}

// hand makes an upgraded task whose client has the handle.
func (r *workRig) hand(rule upgrade.Rule, principal, argument string) (id string) {
	r.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"do":%q}}}`, argument)
	h, err := r.tasks.Maker.Create(context.Background(), upgrade.Creation{
		Rule: &rule, Tool: "slow", Version: "2026-07-28", Asker: upgrade.Asker{Pool: "p", Principal: principal},
		Call: &upgrade.Call{Body: []byte(body), Envelope: upgrade.Envelope{Bare: true}},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	h.Start(nil)
	_ = h.HandOut(func() error { return nil })
	h.Handed()
	return h.ID
}

// bind binds a server's own task, or a session.
func (r *workRig) bind(kind sticky.Kind, pool, principal, id string, b sticky.Binding) {
	r.t.Helper()
	if err := r.bindings.Bind(context.Background(), sticky.Key{Kind: kind, Pool: pool, Principal: principal, ID: id}, b, 0); err != nil {
		r.t.Fatal(err)
	}
}
