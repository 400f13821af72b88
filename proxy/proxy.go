package proxy

import (
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/routing"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Endpoint is the face of one pool: where clients reach it and how it is spoken
// to. Its fields must not change once the proxy serves.
type Endpoint struct {
	Path    string   // the MCP endpoint's path, "/mcp"
	Hosts   []string // host names it answers for, without port; none: any
	Origins []string // browser origins allowed; none: see Proxy.Loopback
	Host    string   // Host header sent upstream: "forward" (or ""), "upstream", or a literal

	Router     *routing.Router
	Client     *exchange.Client
	Timeouts   Timeouts
	OwnerGrace time.Duration // how long polls are answered for a silent owner
	KeepAlive  time.Duration // silence on an event stream before a comment is sent; 0: 15 s
}

// Timeouts bound how long an answer's headers may take; 0 is no bound.
type Timeouts struct {
	Read    time.Duration // pure reads and tasks/get
	Control time.Duration // other short calls
	Call    time.Duration // tools/call, tasks/result, streams, unknown methods
	Linger  time.Duration // how long a legacy call is read on after its client left; 0: 5 min
}

// Limits bound what one client may cost. Zero values are the defaults given.
type Limits struct {
	Body       int64         // bytes of a request's body; 4 MiB
	BodyRead   time.Duration // time for it to arrive; 30 s
	WriteStall time.Duration // time that one write to the client may take; 30 s
	Headers    int           // header lines of a request; 200
	TaskID     int           // bytes of a task id; 256
	Batch      int           // messages in a batch; 100
}

// Options are what a Proxy is made of.
type Options struct {
	Endpoints       []*Endpoint
	Loopback        bool           // the listener is on loopback: only loopback hosts and origins are welcome
	TrustedProxies  []netip.Prefix // peers whose forwarding and principal headers are believed
	PrincipalHeader string         // header that names the principal; "": no principals
	Limits          Limits
	LastSeen        *LastSeen    // nil: one with default bounds
	Logger          *slog.Logger // nil: discarded
	AccessLog       *slog.Logger // nil: no access records
	Meter           metric.MeterProvider
	Tracer          trace.TracerProvider
}

// Proxy is the http.Handler in front of all pools.
type Proxy struct {
	options   Options
	endpoints []*Endpoint
	limits    Limits
	seen      *LastSeen
	log       *slog.Logger
	telemetry telemetry
	draining  chan struct{} // closed by Drain
	drainOnce sync.Once
	lingering atomic.Int64
}

// New returns a proxy for the given endpoints.
func New(o Options) *Proxy {
	p := &Proxy{
		options:   o,
		endpoints: o.Endpoints,
		limits:    o.Limits.withDefaults(),
		seen:      o.LastSeen,
		log:       o.Logger,
		telemetry: newTelemetry(o.Meter, o.Tracer),
		draining:  make(chan struct{}),
	}
	if p.seen == nil {
		p.seen = NewLastSeen(0, 0)
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	return p
}

func (l Limits) withDefaults() Limits {
	orDefault(&l.Body, 4<<20)
	orDefault(&l.BodyRead, 30*time.Second)
	orDefault(&l.WriteStall, 30*time.Second)
	orDefault(&l.Headers, 200)
	orDefault(&l.TaskID, 256)
	orDefault(&l.Batch, 100)
	return l
}

func orDefault[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Drain ends the streams that would never end by themselves: subscriptions with
// their completion result, standing GET streams with the end of their body. Calls
// and their streams go on. It may be called more than once.
func (p *Proxy) Drain() { p.drainOnce.Do(func() { close(p.draining) }) }

// ServeHTTP serves one request of a client.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &request{p: p, w: w, control: http.NewResponseController(w), r: r}
	x.begin()
	defer x.finish()
	if err := x.serve(); err != nil {
		x.fail(err)
	}
}

// endpointFor returns the endpoint that a request belongs to: of those that fit
// best the first, or nil.
func (p *Proxy) endpointFor(host, path string) *Endpoint {
	var best *Endpoint
	most := 0
	for _, ep := range p.endpoints {
		if fit := ep.fit(host, path); fit > most {
			best, most = ep, fit
		}
	}
	return best
}

// fit tells how well the endpoint suits a request, 0 if not at all. A name that
// it lists counts more than a path; a document about its own path more than one
// that only lies at the same origin.
func (ep *Endpoint) fit(host, path string) int {
	fit := 0
	switch {
	case path == ep.Path, isWellKnown(path) && ep.isSubject(path):
		fit = 2
	case isWellKnown(path):
		fit = 1
	default:
		return 0
	}
	switch {
	case ep.named(host):
		return fit + 2
	case len(ep.Hosts) > 0:
		return 0
	}
	return fit
}

// named reports whether the endpoint lists host, a name without port.
func (ep *Endpoint) named(host string) bool {
	for _, h := range ep.Hosts {
		if strings.EqualFold(h, host) {
			return true
		}
	}
	return false
}
