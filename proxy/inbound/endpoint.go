package inbound

import (
	"context"
	"slices"
	"strings"
	"time"

	"berth/internal/alarm"
	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/routing"
)

// Endpoint is the face of one pool: where clients reach it and how it is spoken
// to. Its fields must not change once the proxy serves.
type Endpoint struct {
	Path    string   // the MCP endpoint's path, "/mcp"
	Hosts   []string // host names it answers for, without port, as wire.HostName has them; none: any
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

	// Rates are the rules about how often its tools may be called.
	Rates []RateRule

	// Rendezvous is what the pool's picker keeps calls together by: ByPrincipal, or a header in
	// canonical form; "": it does not.
	Rendezvous string

	// Lenient has berth, where it is the server of a task, take from the body what a
	// request's headers lack. What contradicts the body is refused all the same.
	Lenient bool

	Router     *routing.Router // finds the upstream; required
	Client     exchange.Sender // sends to the pool's upstreams; required
	Bridge     Bridge          // shows upstreams of the legacy era to modern callers; nil: nobody does
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

	vigils   alarm.Queue
	suspects Suspects
}

// Vigils are those over exchanges that nothing bounds: each looks again after Timeouts.Quiet.
func (ep *Endpoint) Vigils() *alarm.Queue { return &ep.vigils }

// Suspects are the sessions that the pool's upstreams seem to have lost.
func (ep *Endpoint) Suspects() *Suspects { return &ep.suspects }

// ByPrincipal is the Endpoint.Rendezvous by who calls: a principal, or an address where there is
// none.
const ByPrincipal = "principal"

// Bridge is asked by many requests at once.
type Bridge interface {
	// To returns what sends requests of the modern era to u, whichever era u speaks.
	To(u *routing.Upstream) exchange.Sender

	// Bridges reports whether To bridges to u, as far as that is known.
	Bridges(u *routing.Upstream) bool

	// Doubt returns the answer of u, which is no success, or tells what u speaks, to a request of the modern era. One which shows that u is not
	// modern any more is another one, if nothing was executed: that of the bridge, which u is spoken to by from then on.
	Doubt(ctx context.Context, u *routing.Upstream, out *exchange.Request, response *wire.Response, wait time.Duration) (*wire.Response, error)

	// OnTo is To for what goes on with a call that has asked its client: one that a bridged upstream asked about goes on at that one.
	OnTo(u *routing.Upstream) exchange.Sender
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

// fit tells how well the endpoint suits a request, 0 if not at all. Its own path, or a document of its own, counts more
// than a name that it lists, and that more than a document that only lies at the same origin: who serves a path at a
// host has the documents about it there.
func (ep *Endpoint) fit(host, path string) int {
	fit := 0
	switch {
	case path == ep.Path, isWellKnown(path) && ep.Owns(path):
		fit = 3
	case isWellKnown(path):
		fit = 1
	default:
		return 0
	}
	switch {
	case ep.named(host):
		return fit + 1
	case len(ep.Hosts) > 0:
		return 0
	}
	return fit
}

// named reports whether the endpoint lists host, a name without port.
func (ep *Endpoint) named(host string) bool {
	return slices.ContainsFunc(ep.Hosts, func(h string) bool { return strings.EqualFold(h, host) })
}

// HostFor returns the Host header for u, as the pool is configured; received is the
// client's.
func (ep *Endpoint) HostFor(u *routing.Upstream, received string) string {
	switch ep.Host {
	case "", "forward":
		return received
	case "upstream":
		return u.URL.Host
	}
	return ep.Host
}

// IsSubject reports whether a well-known path is about this very endpoint: its
// path stands behind the document's name (RFC 9728, 3.1; RFC 8414, 3.1).
func (ep *Endpoint) IsSubject(path string) bool {
	name, subject, found := strings.Cut(strings.TrimPrefix(path, wellKnown), "/")
	return found && name != "" && "/"+subject == ep.Path
}

// Owns reports whether what stands at a well-known path is the endpoint's own: about itself, or about the whole origin, whose
// root the endpoint is.
func (ep *Endpoint) Owns(path string) bool {
	return ep.IsSubject(path) || ep.Path == "/" && !strings.Contains(strings.TrimPrefix(path, wellKnown), "/")
}

// Lists reports whether the operator has named this very origin.
func (ep *Endpoint) Lists(origin string) bool {
	return origin != AnyOrigin && slices.Contains(ep.Origins, origin)
}

// PrincipalHeader is the header that names the principal, "" if there is none.
func (ep *Endpoint) PrincipalHeader() string {
	if ep.Identifier == nil {
		return ""
	}
	return ep.Identifier.Header()
}

// Authorization says what goes upstream in place of the caller's Authorization
// header. The zero value sends none.
type Authorization struct {
	// Value returns what the header says instead; nil: nothing. It is asked for each
	// request, by many at once.
	Value func() string
}

// Authorize changes the headers of a request that goes upstream as the endpoint wants
// it.
func (ep *Endpoint) Authorize(h *wire.Header) {
	if ep.Authorization == nil {
		return
	}
	h.Del("Authorization")
	if ep.Authorization.Value != nil {
		h.Set("Authorization", ep.Authorization.Value())
	}
}

// Identifier tells who is calling. It is asked by many requests at once.
type Identifier interface {
	// Identify returns the principal of a request, before its body is read; "" is
	// nobody. trusted says whether the peer's headers about others are believed. An
	// error refuses the request: an *mcp.Error in its own words, any other as a fault
	// of berth's.
	Identify(r *wire.Request, trusted bool) (principal string, err error)
	// Header is the header by which a trusted peer names the principal, "" if there
	// is none. Nobody else's reaches an upstream.
	Header() string
}

// Resource is what clients without a token are told of an endpoint. It must not
// change once the proxy serves.
type Resource struct {
	// Path is where the document is found: resourceName with the path of the
	// resource's URL behind it, which may differ from the endpoint's where a proxy in
	// front changes paths.
	Path string
	// Document is the JSON of its metadata (RFC 9728, 3.2).
	Document []byte
}
