package command

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
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
func (g *generation) newSender(cfg config.Pool) (exchange.Sender, error) {
	client, err := g.newClient(cfg)
	if err != nil {
		return nil, err
	}
	prefix := resident.Prefix(g.site.mailbox.Name())
	s := &resident.Sender{HTTP: client, Pool: cfg.Name, Mailbox: g.site.mailbox, Stdio: map[string]exchange.Sender{}}
	for _, u := range cfg.Upstreams {
		switch {
		case strings.HasPrefix(u.URL, "sse+") && s.SSE == nil:
			s.SSE, err = share(g, "sse "+cfg.Name, func() (exchange.Sender, life, error) {
				sse := httpsse.New(client, httpsse.Options{SessionPrefix: prefix})
				return sse, life{here: sse.InFlight, end: sse.Close}, nil
			})
		case len(u.Command) > 0:
			err = g.addServers(s, u)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.SSE == nil && len(s.Stdio) == 0 {
		return client, nil
	}
	return s, nil
}

// endTime bounds how long servers that berth runs have to end; those that do not in time are killed.
const endTime = 10 * time.Second

// addServers has s send to the instances of a server that berth runs. What is run otherwise than
// before is another server.
func (g *generation) addServers(s *resident.Sender, u config.Upstream) error {
	prefix := resident.Prefix(g.site.mailbox.Name())
	for _, name := range u.Names() {
		options := processOptions(u, name, prefix)
		key := fmt.Sprintf("stdio %s %s %x", s.Pool, name, sha256.Sum256(fmt.Appendf(nil, "%#v", options)))
		server, err := share(g, key, func() (*stdio.Server, life, error) {
			options.Logger = g.site.log
			server := stdio.New(options)
			return server, life{here: server.InFlight, end: func() {
				ctx, cancel := context.WithTimeout(context.Background(), endTime)
				defer cancel()
				_ = server.Shutdown(ctx)
			}}, nil
		})
		if err != nil {
			return err
		}
		s.Stdio["/"+name] = server
	}
	return nil
}

var isolations = map[string]stdio.Isolation{
	"all": stdio.IsolateAll, "principal": stdio.IsolatePrincipal, "session": stdio.IsolateSession, "call": stdio.IsolateCall,
}

func processOptions(u config.Upstream, name, prefix string) stdio.Options {
	options := stdio.Options{
		Name: name, Command: u.Command, Dir: u.Cwd, Env: u.Env, User: u.User,
		Isolation: isolations[u.Isolation], SessionPrefix: prefix,
		MaxProcesses: u.MaxProcesses, MaxMemory: int64(u.MaxMemory),
		StartTimeout: time.Duration(u.StartTimeout), Idle: time.Duration(u.Idle), MaxLife: time.Duration(u.MaxLife),
	}
	if len(u.EnvAllow) > 0 {
		options.EnvAllow = u.EnvAllow
	}
	return options
}

// errNotHere answers what another berth has passed on to this one, which has not such an upstream.
var errNotHere = errors.New("berth: no such upstream here")

// answerOther answers a request that another berth has passed on.
func (s *site) answerOther(ctx context.Context, passed *exchange.Request) (_ *wire.Response, err error) {
	defer func() { // as a client's request would
		if cause := recover(); cause != nil {
			s.log.Error("panic while serving another berth's request", "cause", cause, "stack", string(debug.Stack()))
			err = &exchange.SendError{Err: errNotHere, Sent: true}
		}
	}()
	request, pool, ok := resident.Unaddressed(passed)
	g := s.now.Load()
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
