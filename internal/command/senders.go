package command

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"berth/internal/config"
	"berth/internal/exchange"
	"berth/internal/httpsse"
	"berth/internal/mcp"
	"berth/internal/stdio"
	"berth/internal/wire"
	"berth/proxy"
	"berth/proxy/resident"
)

// newSender returns what sends to the upstreams of a pool, whatever they speak.
func (g *graph) newSender(cfg config.Pool, o observers) (exchange.Sender, error) {
	client, err := g.newClient(cfg, o)
	if err != nil {
		return nil, err
	}
	prefix := resident.Prefix(g.mailbox.Name())
	s := &resident.Sender{HTTP: client, Pool: cfg.Name, Mailbox: g.mailbox, Stdio: map[string]exchange.Sender{}}
	for _, u := range cfg.Upstreams {
		switch {
		case strings.HasPrefix(u.URL, "sse+") && s.SSE == nil:
			s.SSE = httpsse.New(client, httpsse.Options{SessionPrefix: prefix})
		case len(u.Command) > 0:
			for _, name := range u.Names() {
				server := stdio.New(processOptions(u, name, prefix, o))
				s.Stdio["/"+name] = server
				g.servers = append(g.servers, server)
			}
		}
	}
	if s.SSE == nil && len(s.Stdio) == 0 {
		return client, nil
	}
	return s, nil
}

var isolations = map[string]stdio.Isolation{
	"all": stdio.IsolateAll, "principal": stdio.IsolatePrincipal, "session": stdio.IsolateSession, "call": stdio.IsolateCall,
}

func processOptions(u config.Upstream, name, prefix string, o observers) stdio.Options {
	options := stdio.Options{
		Name: name, Command: u.Command, Dir: u.Cwd, Env: u.Env, User: u.User,
		Isolation: isolations[u.Isolation], SessionPrefix: prefix,
		MaxProcesses: u.MaxProcesses, MaxMemory: int64(u.MaxMemory),
		StartTimeout: time.Duration(u.StartTimeout), Idle: time.Duration(u.Idle), MaxLife: time.Duration(u.MaxLife),
		Logger: o.log,
	}
	if len(u.EnvAllow) > 0 {
		options.EnvAllow = u.EnvAllow
	}
	return options
}

// errNotHere answers what another berth has passed on to this one, which has not such an upstream.
var errNotHere = errors.New("berth: no such upstream here")

// answerOther answers a request that another berth has passed on.
func (g *graph) answerOther(ctx context.Context, passed *exchange.Request) (_ *wire.Response, err error) {
	defer func() { // as a client's request would
		if cause := recover(); cause != nil {
			g.log.Error("panic while serving another berth's request", "cause", cause, "stack", string(debug.Stack()))
			err = &exchange.SendError{Err: errNotHere, Sent: true}
		}
	}()
	request, pool, ok := resident.Unaddressed(passed)
	i := slices.IndexFunc(g.faces, func(ep *proxy.Endpoint) bool { return ep.Router.Pool.Name() == pool })
	if !ok || i < 0 {
		return nil, &exchange.SendError{Err: errNotHere}
	}
	ep := g.faces[i]
	if !mcp.MarksModern(request.Header) {
		return ep.Client.Send(ctx, request, 0)
	}
	for _, u := range ep.Router.Pool.Upstreams() {
		if u.URL.Scheme == request.URL.Scheme && u.URL.Host == request.URL.Host && u.URL.Path == request.URL.Path {
			return ep.Bridge.To(u).Send(ctx, request, 0)
		}
	}
	return nil, &exchange.SendError{Err: errNotHere}
}
