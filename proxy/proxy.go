package proxy

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/routing"
	"berth/upgrade"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/singleflight"
)

// Endpoint is the face of one pool: where clients reach it and how it is spoken
// to. Its fields must not change once the proxy serves.
type Endpoint struct {
	Path    string   // the MCP endpoint's path, "/mcp"
	Hosts   []string // host names it answers for, without port; none: any
	Origins []string // browser origins let in beside the request's own and, with Options.Loopback, those on loopback; AnyOrigin: all
	Host    string   // Host header sent upstream: "forward" (or ""), "upstream", or a literal

	// Identifier tells who calls; nil: everybody is nobody. It is set where, and
	// only where, Router binds to principals.
	Identifier Identifier
	// Resource tells clients where to get a token for this endpoint; nil: what an
	// upstream says of it is passed on.
	Resource *Resource

	// Authorization says what becomes of the caller's Authorization header upstream;
	// nil: it is passed on.
	Authorization *Authorization

	// Affinity are the headers, in canonical form, whose values keep calls at one
	// upstream: of those that a call carries, the first that is bound counts.
	Affinity []string

	// Lenient has berth, where it is the server of a task, take from the body what a
	// request's headers lack. What contradicts the body is refused all the same.
	Lenient bool

	Router     *routing.Router // finds the upstream; required
	Client     exchange.Sender // sends to the pool's upstreams; required
	Timeouts   Timeouts
	OwnerGrace time.Duration // how long polls are answered for a silent owner; 0: not at all
	Coalesce   time.Duration // how long after it came the answer to a poll is given to others like it; at most 5 s; 0: to those only who asked meanwhile
	KeepAlive  time.Duration // silence on an event stream before a comment is sent; 0: 15 s

	// Reinit opens a session whose upstream lost it anew on another, with what its
	// client told the first one. Without it the client gets 404 and does so itself.
	Reinit bool

	// FirstDraft has tasks of the first draft (SEP-1686 as first written, withdrawn) found
	// by the ids that their clients make. False: such an id means nothing, and its call is
	// any other.
	FirstDraft bool

	// FleetNotifications has subscriptions hear of every upstream's lists and
	// resources, over streams that subscribers with equal credentials share. False:
	// they hear of one upstream's.
	FleetNotifications bool
}

// Timeouts bound how long an answer's headers may take, where nothing else is
// said; 0 is no bound.
type Timeouts struct {
	Read    time.Duration // pure reads and tasks/get
	Control time.Duration // other short calls
	Call    time.Duration // tools/call, tasks/result, streams, unknown methods
	Quiet   time.Duration // silence of what nothing else bounds, after which the upstream is asked for a sign of life; 0: never
	Linger  time.Duration // how long a legacy call is read on after its client left; 0: 5 min
}

// Options are what a Proxy is made of.
type Options struct {
	Endpoints      []*Endpoint    // where several fit a request equally well, the first gets it
	Loopback       bool           // the listener is on loopback: only loopback hosts and origins are welcome
	TrustedProxies []netip.Prefix // peers whose forwarding and principal headers are believed
	// CredentialHeaders are headers that callers authenticate with, beside those that are
	// known to be.
	CredentialHeaders []string
	Limits            Limits
	Tasks             *upgrade.Tasks       // the tasks of berth's own making; nil: calls stay plain
	LastSeen          *LastSeen            // nil: one with default bounds
	Rules             upgrade.Rules        // which tools' calls become tasks; none: no tool's
	Keys              *seal.Keyring        // seals what clients carry; required where tasks are listed over a pool
	Logger            *slog.Logger         // nil: discarded
	AccessLog         *slog.Logger         // nil: no access records
	Meter             metric.MeterProvider // nil: nothing is measured
	Tracer            trace.TracerProvider // nil: nothing is traced
}

// Proxy serves clients in front of all pools; by net/http it is an http.Handler.
type Proxy struct {
	options    Options
	counts     []string // the headers that are credentials, beside Cookie, as meant spells them
	limits     Limits   // with their defaults
	seen       *LastSeen
	log        *slog.Logger
	telemetry  telemetry
	load       *load
	end        *end
	lingering  atomic.Int64 // exchanges read on without a client
	moves      singleflight.Group
	flights    *flights
	vouched    *vouched
	lists      chan struct{} // one for each list of tasks that is being made
	lookout    lookout
	newsroom   newsroom
	deliveries deliveries
	learned    map[*Endpoint]*learned
}

// learned is what berth knows of a pool while it serves.
type learned struct {
	feeds   fleetFeeds
	support toolSupport
}

// New returns a proxy for the given endpoints.
func New(o Options) *Proxy {
	p := &Proxy{
		options:   o,
		counts:    countedHeaders(o.CredentialHeaders),
		limits:    o.Limits.withDefaults(),
		seen:      o.LastSeen,
		log:       o.Logger,
		telemetry: newTelemetry(o.Meter, o.Tracer),
		end:       newEnd(),
		flights:   newFlights(),
		vouched:   newVouched(),
		learned:   make(map[*Endpoint]*learned),
		lists:     make(chan struct{}, listsAtOnce),
		lookout:   lookout{tasks: o.Tasks, reads: make(chan struct{}, looksAtOnce)},
	}
	if p.seen == nil {
		p.seen = NewLastSeen(0, 0)
	}
	if p.log == nil {
		p.log = slog.New(slog.DiscardHandler)
	}
	p.telemetry.begin(o.Endpoints)
	for _, ep := range o.Endpoints {
		p.learned[ep] = &learned{}
	}
	p.load = newLoad(p.limits, o.Meter, p.log)
	return p
}

// Serve serves one request of a client. If the answer is not whole, its connection must be
// closed: whoever carries it must neither make one up, nor end one that has begun.
func (p *Proxy) Serve(w wire.Client, r *wire.Request) (whole bool) {
	p.end.serving.Add(1)
	defer p.end.serving.Add(-1)
	x := &request{p: p, w: w, r: r}
	x.serveAndReport()
	return !x.aborted
}

// endpointFor returns the endpoint that a request belongs to: of those that fit
// best the first, or nil.
func (p *Proxy) endpointFor(host, path string) *Endpoint {
	var best *Endpoint
	most := 0
	for _, ep := range p.options.Endpoints {
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
	return slices.ContainsFunc(ep.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}
