package explain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"berth/internal/api"
	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/sticky"
)

// ErrNoTrace says that nobody knows an id, and that there are several pools to look in.
var ErrNoTrace = errors.New("explain: no pool knows the id")

// ErrNoPool says that there is no pool of a name.
var ErrNoPool = errors.New("explain: no such pool")

// ByID explains a request about a task or session by its id: in the pool of that name, "": in whichever knows
// the id. caller is whose it is; nil: whoever it is known to be of. Errors: ErrNoTrace, ErrNoPool, or of several pools one that
// wraps storage.ErrUnavailable: then nobody could look.
func (x Explainer) ByID(ctx context.Context, id, pool string, caller *string) (api.Explanation, error) {
	var in []*inbound.Endpoint
	for _, ep := range x.Settings.Endpoints {
		if pool == "" || pool == ep.Router.Pool.Name() {
			in = append(in, ep)
		}
	}
	if len(in) == 0 {
		return api.Explanation{}, ErrNoPool
	}
	found, err := x.knownIn(ctx, in, id, caller)
	switch {
	case found == nil && len(in) > 1 && errors.Is(err, storage.ErrUnavailable):
		return api.Explanation{}, err
	case found == nil && len(in) > 1:
		return api.Explanation{}, ErrNoTrace
	case found == nil:
		found = &known{endpoint: in[0], kind: sticky.Task, principal: or(caller, "")}
	}
	e := x.Explain(ctx, Question{HTTP: found.request(id), Caller: &found.principal, ByID: true})
	e.Kind = string(found.kind)
	return e, nil
}

// known is where an id is known.
type known struct {
	endpoint  *inbound.Endpoint
	kind      sticky.Kind
	principal string
	legacy    bool
}

// knownIn looks for an id in pools; nil: it is not known there, or as the error says could not be looked for in all of them.
func (x Explainer) knownIn(ctx context.Context, pools []*inbound.Endpoint, id string, caller *string) (found *known, err error) {
	if x.Own != nil {
		if own, err := x.Own.IDs.Ours(ctx, id); err == nil && own {
			return x.knownAsOwn(ctx, pools, id, caller)
		}
	}
	for _, ep := range pools {
		found, failed := x.knownAs(ctx, ep, id, caller)
		if found != nil {
			return found, nil
		}
		err = errors.Join(err, failed)
	}
	return nil, err
}

// knownAsOwn is knownIn of an id of berth's own making. One whose record is not there is of the first pool as much as of any.
func (x Explainer) knownAsOwn(ctx context.Context, pools []*inbound.Endpoint, id string, caller *string) (*known, error) {
	who, err := x.Own.Overview.Whose(ctx, id)
	if len(pools) > 1 && errors.Is(err, storage.ErrUnavailable) {
		return nil, err
	}
	for _, ep := range pools {
		if err != nil || who.Pool == ep.Router.Pool.Name() {
			return &known{endpoint: ep, kind: sticky.Task, principal: or(caller, who.Principal)}, nil
		}
	}
	return nil, nil
}

// knownAs looks for an id in a pool; nil: it is not known there, or as the error says could not be looked for.
func (x Explainer) knownAs(ctx context.Context, ep *inbound.Endpoint, id string, caller *string) (found *known, failed error) {
	for _, kind := range []sticky.Kind{sticky.Task, sticky.Session} {
		key := ep.Router.TaskKey(or(caller, ""), id)
		key.Kind = kind
		if claim, _, err := ep.Router.Bindings.Peek(ctx, key.Claim()); err == nil && caller == nil {
			key.Principal = claim.Principal
		}
		binding, _, err := ep.Router.Bindings.Peek(ctx, key)
		if err == nil {
			legacy := kind == sticky.Session || binding.Dialect != mcp.DialectExtension.String()
			return &known{ep, kind, key.Principal, legacy}, nil
		}
		failed = errors.Join(failed, err)
	}
	return nil, failed
}

func or(given *string, otherwise string) string {
	if given == nil {
		return otherwise
	}
	return *given
}

// request is one that asks for what has the id, as its client would.
func (t *known) request(id string) *wire.Request {
	host := "localhost"
	if len(t.endpoint.Hosts) > 0 {
		host = t.endpoint.Hosts[0]
	}
	header := wire.NewHeader("Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	quoted, _ := json.Marshal(id) // strings always marshal
	var body string
	switch {
	case t.kind == sticky.Session:
		header.Set(mcp.HeaderSession, id)
		body = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	case t.legacy:
		header.Set(mcp.HeaderVersion, mcp.VersionCoreTasks)
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":%s}}`, quoted)
	default:
		body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,`+
			`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`, quoted, mcp.VersionModern)
	}
	mcp.MirrorHeaders(header.Set, []byte(body))
	return NewQuestion(wire.MethodPost, &url.URL{Path: t.endpoint.Path}, host, header, []byte(body))
}

// EndpointOf is a pool's; nil: there is no such pool.
func (x Explainer) EndpointOf(pool string) *inbound.Endpoint {
	for _, ep := range x.Settings.Endpoints {
		if ep.Router.Pool.Name() == pool {
			return ep
		}
	}
	return nil
}

// FirstPath is where the first endpoint is.
func (x Explainer) FirstPath() string { return x.Settings.Endpoints[0].Path }

// NewQuestion is a request with a body that is whole.
func NewQuestion(method string, target *url.URL, host string, header *wire.Header, body []byte) *wire.Request {
	return &wire.Request{
		Method: method, URL: target, Host: host, Header: header, Body: bytes.NewReader(body), ContentLength: int64(len(body)), ProtoMajor: 1, ProtoMinor: 1,
	}
}
