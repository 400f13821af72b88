package proxy_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/h1test"
	"berth/internal/h1/server"
	"berth/internal/identity"
	"berth/internal/mcptest"
	"berth/internal/realtest"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/proxy"
	"berth/routing"
	"berth/routing/claim"
	"berth/sticky"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// userHeader names the principal where a setup has principals.
const userHeader = "X-User"

// A setup says what a test's berth stands in front of. The zero value is three
// instances, a, b and c, that answer in JSON, behind a loopback listener, with a
// store in memory and no principals.
type setup struct {
	upstreams  int                        // instances; 0: 3
	server     func(s *mcptest.Server)    // changes each instance before it serves
	handler    http.Handler               // one upstream of any kind, in place of the fleet
	path       string                     // the upstreams' own endpoint; "": /mcp
	principals bool                       // told by userHeader, believed from loopback
	store      string                     // URL; "": memory:
	with       func(*storage.Store)       // is handed the store
	pool       func(*routing.PoolOptions) // changes the pool
	endpoint   func(*proxy.Endpoint)      // changes the endpoint
	options    func(*proxy.Options)       // changes the proxy; its endpoints may be added to
}

// A berth is a proxy on a real loopback socket, before a fleet on others.
type berth struct {
	t       testing.TB
	address string
	fleet   []*mcptest.Server
	urls    []string        // the upstreams' endpoints
	hits    []*atomic.Int64 // requests that each upstream saw, of any kind
	access  *lines
	logs    *lines
	metrics *sdkmetric.ManualReader
	spans   *tracetest.SpanRecorder
}

// start starts all of it until the test ends.
func start(t testing.TB, s setup) *berth {
	t.Helper()
	b := &berth{t: t, access: new(lines), logs: new(lines), metrics: sdkmetric.NewManualReader(), spans: tracetest.NewSpanRecorder()}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.metrics))
	log := slog.New(slog.NewJSONHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if s.store == "" {
		s.store = "memory:"
	}
	store, err := storage.Open(s.store, storage.Options{Logger: log, MeterProvider: meters})
	if err != nil {
		t.Fatal(err)
	}
	if s.with != nil {
		s.with(store)
	}
	bindings := sticky.New(store, sticky.Options{Logger: log, Meter: meters, Near: 1000})
	pool := routing.PoolOptions{Name: "main", Upstreams: b.startUpstreams(s), Logger: log, Meter: meters}
	if s.pool != nil {
		s.pool(&pool)
	}
	client := h1test.NewSender(nil, 2*time.Second)
	t.Cleanup(client.Close)
	ep := newEndpoint(routing.NewPool(pool), bindings, client, s.principals)
	if s.endpoint != nil {
		s.endpoint(ep)
	}
	options := newOptions(ep, store, s.principals)
	options.Loopback, options.Logger, options.Meter = true, log, meters
	options.AccessLog = slog.New(slog.NewJSONHandler(b.access, nil))
	options.Tracer = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(b.spans))
	if s.options != nil {
		s.options(&options)
	}
	if _, counts := t.(*testing.B); counts {
		ep.Client = h1test.Bare(ep.Client)
	}
	b.serve(proxy.New(options))
	t.Cleanup(func() { _ = store.Close() })
	return b
}

var loopbackPeers = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

// startUpstreams starts what the berth stands in front of.
func (b *berth) startUpstreams(s setup) (upstreams []*routing.Upstream) {
	handlers := []http.Handler{s.handler}
	if s.handler == nil {
		handlers = nil
		for i := range max(s.upstreams, 3*btoi(s.upstreams == 0)) {
			instance := &mcptest.Server{Name: string(rune('a' + i)), SessionOptional: true}
			if s.server != nil {
				s.server(instance)
			}
			b.fleet, handlers = append(b.fleet, instance), append(handlers, instance)
		}
	}
	if s.path == "" {
		s.path = "/mcp"
	}
	for i, handler := range handlers {
		hits := new(atomic.Int64)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			hits.Add(1)
			handler.ServeHTTP(w, r)
		}))
		b.t.Cleanup(func() {
			if b.fleet != nil {
				b.fleet[i].Close()
			}
			server.CloseClientConnections()
			server.Close()
		})
		target, err := url.Parse(server.URL + s.path)
		if err != nil {
			b.t.Fatal(err)
		}
		b.urls, b.hits = append(b.urls, target.String()), append(b.hits, hits)
		upstreams = append(upstreams, &routing.Upstream{Name: string(rune('a' + i)), URL: target})
	}
	return upstreams
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// newEndpoint connects the parts of a berth before pool, as internal/site does.
func newEndpoint(pool *routing.Pool, bindings *sticky.Bindings, client exchange.Sender, principals bool) *proxy.Endpoint {
	ep := &proxy.Endpoint{
		Path:       "/mcp",
		Router:     &routing.Router{Pool: pool, Guard: claim.Guard{Bindings: bindings, Principals: principals}, Asker: routing.NewAsker(pool)},
		Client:     client,
		OwnerGrace: 30 * time.Second,
	}
	if principals {
		ep.Identifier = identity.Header(userHeader)
	}
	return ep
}

// newOptions are those of a berth with one endpoint.
func newOptions(ep *proxy.Endpoint, store *storage.Store, principals bool) proxy.Options {
	options := proxy.Options{Endpoints: []*proxy.Endpoint{ep}, Keys: seal.NewStoredKeyring(store)}
	if principals {
		options.TrustedProxies = loopbackPeers
	}
	return options
}

// headerLimit is the largest header that the listener lets through, as configured
// by default.
const headerLimit = 32 << 10

// serve serves by p as the command does.
func (b *berth) serve(p server.Handler) {
	b.t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	b.address = listener.Addr().String()
	h1test.Serve(b.t, listener, p, h1test.Options{MaxHead: headerLimit, Log: slog.NewJSONHandler(b.logs, nil)})
}

// upstreamURL is where the only upstream is reached without berth.
func (b *berth) upstreamURL() string { return b.urls[0] }

// contacted is how many requests all upstreams together saw.
func (b *berth) contacted() int {
	n := 0
	for _, hits := range b.hits {
		n += int(hits.Load())
	}
	return n
}

// owner is the index of the one instance that saw a call of that method.
func (b *berth) owner(method string) int {
	b.t.Helper()
	owner := -1
	for i, s := range b.fleet {
		switch {
		case s.Calls(method) == 0:
		case owner >= 0:
			b.t.Fatalf("%s reached several instances", method)
		default:
			owner = i
		}
	}
	if owner < 0 {
		b.t.Fatalf("%s reached no instance", method)
	}
	return owner
}

// calls is how often that method reached any instance.
func (b *berth) calls(method string) int {
	n := 0
	for _, s := range b.fleet {
		n += s.Calls(method)
	}
	return n
}

// record is the access record that the only request since the last call left.
func (b *berth) record() map[string]any {
	b.t.Helper()
	realtest.Eventually(b.t, "an access record", func() bool { return strings.Contains(b.access.String(), "\n") })
	return b.access.take(b.t)[0]
}

// unreachable is a router of a pool without upstreams.
func unreachable() *routing.Router {
	pool := routing.NewPool(routing.PoolOptions{Name: "empty"})
	return &routing.Router{Pool: pool, Asker: routing.NewAsker(pool)}
}

// inTurn makes the first instance take the first unbound call, and so on.
func inTurn(o *routing.PoolOptions) { o.Picker = new(routing.RoundRobin) }
