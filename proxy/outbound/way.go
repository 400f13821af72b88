package outbound

import (
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/routing"
)

// Way is in whose name requests go to upstreams for a call, and under which session.
type Way struct {
	*inbound.Call

	InSession bool              // the session was found to be the caller's own
	Owner     *routing.Upstream // of what the call is about; nil: nobody is known
	Alias     string            // what the session is called at the upstream; "": what the client calls it
	Left      bool              // the session has left the owner, which goes on with what it began there

	Report Reporter
	Log    *slog.Logger
}

// Reporter is told what is to be counted.
type Reporter interface {
	// CrossedBy counts a response that u has given to another request.
	CrossedBy(pool string, u *routing.Upstream)
}

// Crossed counts a response that u has given to another request than berth's own.
func (w Way) Crossed(u *routing.Upstream) func() {
	return func() { w.Report.CrossedBy(w.PoolName(), u) }
}

// URL is u's MCP endpoint with the client's query.
func (w Way) URL(u *routing.Upstream) *url.URL { return WithQuery(u.URL, w.HTTP.URL.RawQuery) }

// WithQuery is target with another query.
func WithQuery(target *url.URL, query string) *url.URL {
	if target.RawQuery == query {
		return target
	}
	other := *target
	other.RawQuery = query
	return &other
}

// Beside is the place at u's origin that the client's path means. The path of the
// MCP endpoint, itself or behind a document's name, may differ upstream.
func (w Way) Beside(u *routing.Upstream) *url.URL {
	path := w.HTTP.URL.Path
	if path == w.Endpoint.Path || w.Endpoint.IsSubject(path) {
		path = strings.TrimSuffix(path, w.Endpoint.Path) + u.URL.Path
	}
	return &url.URL{Scheme: u.URL.Scheme, Host: u.URL.Host, Path: path, RawQuery: w.HTTP.URL.RawQuery}
}

// Request makes the request that goes to u. body nil means none.
func (w Way) Request(u *routing.Upstream, method string, target *url.URL, body []byte) *exchange.Request {
	out := w.named(u, Outgoing(method, target, w.Endpoint.HostFor(u, w.HTTP.Host), w.Headers(), body))
	out.Modern = w.Era() == mcp.EraModern
	return out
}

// OwnHeaders are the headers of Post.
func (w Way) OwnHeaders() *wire.Header {
	h := w.Headers()
	MakeOwn(h)
	return h
}

// MirrorCall has h say which call of berth's own the body bears, as a modern client does.
func (w Way) MirrorCall(h *wire.Header, method, taskID string) {
	if w.Era() == mcp.EraModern {
		h.Set(mcp.HeaderVersion, w.Version())
		h.Set(mcp.HeaderMethod, method)
		h.Set(mcp.HeaderName, mcp.EncodeName(taskID))
	}
}

// Post makes a POST of berth's own to u: the caller's headers, less what they say
// of the caller's call.
func (w Way) Post(u *routing.Upstream, body []byte) *exchange.Request {
	return w.named(u, Outgoing(wire.MethodPost, w.URL(u), w.Endpoint.HostFor(u, w.HTTP.Host), w.OwnHeaders(), body))
}

// named says in whose name a request to u is.
func (w Way) named(u *routing.Upstream, out *exchange.Request) *exchange.Request {
	out.Caller, out.Unsent = w.Principal, w.unsent(u)
	return out
}

// unsent is what u does not get of what tells who calls, if berth itself tells u's callers apart.
func (w *Way) unsent(u *routing.Upstream) exchange.Unsent {
	if !w.HasUnsent() || !To(w.Endpoint).tellsCallersApart(u) {
		return exchange.Unsent{}
	}
	return w.Unsent()
}

// unsentToSome is what some upstream would not get.
func (w *Way) unsentToSome() exchange.Unsent {
	if !w.HasUnsent() || !slices.ContainsFunc(w.Pool().Upstreams(), To(w.Endpoint).tellsCallersApart) {
		return exchange.Unsent{}
	}
	return w.Unsent()
}

// OwnBody is the body of a request that Ask sends.
func (w Way) OwnBody(method, taskID string) []byte {
	params := map[string]any{}
	if taskID != "" {
		params["taskId"] = taskID
	}
	if w.Era() == mcp.EraModern {
		params["_meta"] = mcp.OwnMeta(w.Version())
	}
	return OwnMessage(method, params)
}
