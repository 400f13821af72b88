package proxy_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/h1test"
	"berth/internal/h1/server"
	"berth/internal/mcptest"
	"berth/internal/storage"
	"berth/proxy"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"

	"go.opentelemetry.io/otel/metric"
)

// rigOptions say what a rig is made of. The zero value is three instances in memory
// behind one berth without principals.
type rigOptions struct {
	tcp        bool                                // real loopback connections instead of memory
	size       int                                 // instances; 0: 3
	server     func(*mcptest.Server)               // sets up each instance
	endpoint   func(*proxy.Endpoint)               // changes the endpoint
	options    func(*proxy.Options)                // changes the proxy
	wrap       func(server.Handler) server.Handler // stands around the proxy
	store      *storage.Store                      // nil: memory:
	kept       upgrade.Bounds                      // of what upgraded tasks keep
	unsaved    int64                               // bytes of their large answers that are in memory at once; 0: many
	traced     func(upgrade.Round)                 // is told of rounds of upgraded tasks
	meter      metric.MeterProvider
	still      bool                             // nothing is written back to the store or refreshed
	principals bool                             // told by userHeader, believed from loopback
	probe      bool                             // silent upstreams are probed
	upstream   func(i int, u *routing.Upstream) // changes an upstream
	picker     routing.Picker                   // nil: the first candidate
	seek       func(*routing.Pool)              // has the pool know what others do
	log        *slog.Logger                     // of the pool; nil: discarded
}

// firstCandidate picks the first candidate, so that a test knows where work begins.
type firstCandidate struct{}

func (firstCandidate) Pick(c routing.Choice) *routing.Upstream { return c.Among[0] }

// A rig is a fleet with a berth in front of it, whose parts a test can break, and
// whose time can be a bubble's. Beside it, a berth (see start) has real sockets, the
// listener that judges framing, and records of all that it logs and measures.
type rig struct {
	t        *testing.T
	tcp      bool
	network  *rigNetwork
	servers  []*rigServer
	pool     *routing.Pool
	router   *routing.Router
	bindings *sticky.Bindings
	proxy    *proxy.Proxy
	outbound exchange.Sender // of the berth, to its upstreams
	base     string          // URL of the berth's MCP endpoint
	client   *http.Client
}

func newRig(t *testing.T, o rigOptions) *rig {
	t.Helper()
	f := &rig{t: t, tcp: o.tcp, network: &rigNetwork{}}
	if o.size == 0 {
		o.size = 3
	}
	var upstreams []*routing.Upstream
	for i := range o.size {
		s := f.newServer(string(rune('a'+i)), o.server)
		f.servers = append(f.servers, s)
		u := &routing.Upstream{Name: s.Name, URL: &url.URL{Scheme: "http", Host: s.addr, Path: "/mcp"}}
		if o.upstream != nil {
			o.upstream(i, u)
		}
		upstreams = append(upstreams, u)
	}
	f.assemble(o, upstreams)
	return f
}

// assemble connects the parts of the berth, as internal/site does.
func (f *rig) assemble(o rigOptions, upstreams []*routing.Upstream) {
	f.t.Helper()
	store := o.store
	if store == nil {
		store = openStore(f.t, "memory:")
	}
	client := h1test.NewSender(f.network.dial, 2*time.Second)
	f.outbound = client
	pool := routing.PoolOptions{Name: "p", Upstreams: upstreams, Settings: routing.Settings{Picker: o.picker}, Logger: o.log}
	if o.picker == nil {
		pool.Picker = firstCandidate{}
	}
	if o.probe {
		pool.Probe = outbound.Probe(client)
	}
	if o.seek != nil {
		pool.Seek = func(context.Context, string) { o.seek(f.pool) }
	}
	f.pool = routing.NewPool(pool)
	f.bindings = sticky.New(store, sticky.Options{Near: 100, Meter: o.meter})
	ep := newEndpoint(f.pool, f.bindings, client, o.principals)
	ep.Timeouts = proxy.Timeouts{Read: 10 * time.Second, Control: 30 * time.Second}
	f.router = ep.Router
	if o.endpoint != nil {
		o.endpoint(ep)
	}
	options := newOptions(ep, store, o.principals)
	if o.options != nil {
		o.options(&options)
	}
	f.proxy = proxy.New(options)
	var handler server.Handler = f.proxy
	if o.wrap != nil {
		handler = o.wrap(handler)
	}
	f.background(f.pool.Run)
	if !o.still {
		f.background(f.bindings.Run)
	}
	f.front(handler, client)
}

// background runs what goes on beside requests until the test ends.
func (f *rig) background(run func(context.Context) error) {
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = run(ctx) })
	f.t.Cleanup(func() {
		stop()
		running.Wait()
	})
}

// front serves handler to clients.
func (f *rig) front(handler server.Handler, upstream exchange.Sender) {
	f.t.Helper()
	l := f.network.listen(f.t, f.tcp, "berth")
	stop := h1test.Serve(f.t, l, handler, h1test.Options{})
	transport := &http.Transport{DialContext: f.network.dial, DisableCompression: true}
	f.client = &http.Client{Transport: transport}
	f.base = "http://" + l.Addr().String() + "/mcp"
	f.t.Cleanup(func() {
		transport.CloseIdleConnections()
		stop()
		upstream.Close()
	})
}

func openStore(t testing.TB, url string) *storage.Store {
	t.Helper()
	store, err := storage.Open(url, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

// owner returns the name of the upstream that a task is bound to, "" for none.
func (f *rig) owner(id string) string { return ownerOf(f.bindings, f.router.TaskKey("", id)) }

func ownerOf(b *sticky.Bindings, key sticky.Key) string {
	binding, _, err := b.Lookup(context.Background(), key)
	if err != nil {
		return ""
	}
	return binding.Upstream
}

// calls counts the messages of a method at all instances.
func (f *rig) calls(method string) int {
	n := 0
	for _, s := range f.servers {
		n += s.Calls(method)
	}
	return n
}

// eventually polls until ok, for what no message announces. In a bubble its
// time is the bubble's.
func (f *rig) eventually(what string, ok func() bool) {
	f.t.Helper()
	limit, tick := time.NewTimer(20*time.Second), time.NewTicker(2*time.Millisecond)
	defer limit.Stop()
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-limit.C:
			f.t.Fatalf("not seen: %s", what)
		}
	}
}
