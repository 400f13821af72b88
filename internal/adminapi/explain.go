package adminapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/explain"
)

// serveExplainID explains a request about a task or session.
func (e *explanations) serveExplainID(ctx context.Context, r *http.Request) (any, error) {
	query := r.URL.Query()
	id := query.Get("id")
	if id == "" {
		return nil, badRequest("name a task or session: ?id=")
	}
	var caller *string
	if query.Has("caller") {
		caller = new(query.Get("caller"))
	}
	told, err := e.proxy().Explainer().ByID(ctx, id, query.Get("pool"), caller)
	switch {
	case errors.Is(err, explain.ErrNoPool):
		return nil, admin.NotFound("there is no pool " + query.Get("pool"))
	case errors.Is(err, explain.ErrNoTrace):
		return nil, admin.NotFound("no pool knows the id, or none without knowing whose it is: name its caller, or a pool to be told what a request there would get")
	}
	return told, e.outages.fault(err)
}

// serveExplain explains a request that is given whole.
func (e *explanations) serveExplain(ctx context.Context, r *http.Request) (any, error) {
	var asked api.Question
	if err := read(r, &asked); err != nil {
		return nil, err
	}
	question, err := e.question(&asked)
	if err != nil {
		return nil, err
	}
	return e.proxy().Explainer().Explain(ctx, question), nil
}

// question is the request that is asked about. One without headers has those that its client would send.
func (e *explanations) question(asked *api.Question) (explain.Question, error) {
	q := explain.Question{}
	if asked.Caller != "" {
		q.Caller = &asked.Caller
	}
	host, path := "localhost", asked.Path
	if asked.Pool != "" {
		ep := e.proxy().Explainer().EndpointOf(asked.Pool)
		if ep == nil {
			return q, admin.NotFound("there is no pool " + asked.Pool)
		}
		if path == "" {
			path = ep.Path
		}
		if len(ep.Hosts) > 0 {
			host = ep.Hosts[0]
		}
	}
	if path == "" {
		path = e.proxy().Explainer().FirstPath()
	}
	target, err := url.ParseRequestURI(path)
	if err != nil {
		return q, badRequest("path: it is no path of a URL")
	}
	header := new(wire.Header)
	for name, value := range asked.Headers {
		if strings.EqualFold(name, "Host") {
			host = value
		} else if !strings.EqualFold(name, "Content-Length") {
			header.Add(wire.CanonicalName(name), value)
		}
	}
	if len(header.Fields()) == 0 {
		header.Set("Content-Type", "application/json")
		header.Set("Accept", "application/json, text/event-stream")
		mcp.MirrorHeaders(header.Set, []byte(asked.Body))
	}
	method := asked.Method
	if method == "" {
		method = http.MethodPost
	}
	q.HTTP = explain.NewQuestion(method, target, host, header, []byte(asked.Body))
	if asked.From != "" {
		q.HTTP.RemoteAddr = net.JoinHostPort(asked.From, "0")
	}
	return q, nil
}
