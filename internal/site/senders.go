package site

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"berth/internal/config"
	"berth/internal/exchange"
	"berth/internal/httpsse"
	"berth/internal/mcp"
	"berth/internal/parts"
	"berth/internal/relay"
	"berth/internal/stdio"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/resident"
)

// newSender returns what sends to the upstreams of a pool, whatever they speak.
func (g *generation) newSender(cfg config.Pool) (exchange.Sender, error) {
	client, err := g.newClient(cfg)
	if err != nil {
		return nil, err
	}
	s := &resident.Sender{HTTP: client, Pool: cfg.Name, Mailbox: g.site.mailbox, Stdio: map[string]exchange.Sender{}}
	s.Counted = inbound.CountedHeaders(g.cfg.Auth.CredentialHeaders)
	for _, u := range cfg.Upstreams {
		switch {
		case strings.HasPrefix(u.URL, "sse+") && s.SSE == nil:
			s.SSE, err = g.newSSE(cfg.Name, client)
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

// sse is what sends to servers of HTTP with SSE. Their sessions outlive its connections.
type sse struct {
	*httpsse.Sender
	by *exchange.Switch
}

// newSSE takes into use what sends to those of a pool, by client from now on.
func (g *generation) newSSE(pool string, client exchange.Sender) (exchange.Sender, error) {
	s, err := share(g, "sse "+pool, func() (sse, parts.Life, error) {
		by := new(exchange.Switch)
		by.To(client)
		s := sse{httpsse.New(by, httpsse.Options{SessionPrefix: resident.Prefix(g.site.mailbox.Name())}), by}
		return s, parts.Life{Here: s.InFlight, End: func(context.Context) { s.Close() }}, nil
	})
	g.then(func() { s.by.To(client) })
	return s, err
}

// endTime bounds how long servers that berth runs have to end; those that do not in time are killed.
const endTime = 10 * time.Second

// addServers has s send to the instances of a server that berth runs.
func (g *generation) addServers(s *resident.Sender, u config.Upstream) error {
	for _, name := range u.Names() {
		options := processOptions(u, name, resident.Prefix(g.site.mailbox.Name()), g.site.Log)
		server, err := share(g, "stdio "+s.Pool+" "+name, func() (*stdio.Instance, parts.Life, error) {
			server := stdio.NewInstance(options)
			return server, parts.Life{Run: server.Run, Here: tiedTo(server, g.site.store), End: func(ctx context.Context) { end(ctx, server) }}, nil
		})
		if err != nil {
			return err
		}
		g.then(func() { server.Change(options) })
		s.Stdio["/"+name] = server
	}
	return nil
}

// tiedTo counts what ends with a server that berth runs: tasks, too, where another berth asks for them once this one takes no more
// connections.
func tiedTo(server *stdio.Instance, store *storage.Store) func() int {
	if store == nil || !store.Shared() {
		return server.InFlight
	}
	return server.Tied
}

// end ends a server once no call is in flight there, or with ctx.
func end(ctx context.Context, server *stdio.Instance) {
	server.Drain(ctx)
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	_ = server.Shutdown(limit)
}

var isolations = map[string]stdio.Isolation{
	"all": stdio.IsolateAll, "principal": stdio.IsolatePrincipal, "session": stdio.IsolateSession, "call": stdio.IsolateCall,
}

func processOptions(u config.Upstream, name, prefix string, log *slog.Logger) stdio.Options {
	options := stdio.Options{
		Name: name, Command: u.Command, Dir: u.Cwd, Env: u.Env, User: u.User,
		Isolation: isolations[u.Isolation], SessionPrefix: prefix,
		MaxProcesses: u.MaxProcesses, MaxMemory: int64(u.MaxMemory),
		StartTimeout: time.Duration(u.StartTimeout), Idle: time.Duration(u.Idle), MaxLife: time.Duration(u.MaxLife), Restart: time.Duration(u.Restart),
		Logger: log,
	}
	if len(u.EnvAllow) > 0 {
		options.EnvAllow = u.EnvAllow
	}
	return options
}

// errNotHere: this berth has not such an upstream, which another one may have still, or already.
var errNotHere = errors.New("berth: no such upstream here")

// notTaken answers what another berth has passed on to this one, which has not such an upstream: its sessions, and the calls that are held
// for it, are gone here. Of the upstream it says nothing.
func notTaken() error {
	return &exchange.SendError{Err: fmt.Errorf("%w: %w", relay.ErrGone, errNotHere), Between: true}
}

// answerOther answers a request that another berth has passed on.
func (s *Site) answerOther(ctx context.Context, passed *exchange.Request) (_ *wire.Response, err error) {
	defer func() { // as a client's request would
		if cause := recover(); cause != nil {
			s.Log.Error("panic while serving another berth's request", "type", fmt.Sprintf("%T", cause), "stack", string(debug.Stack()))
			err = &exchange.SendError{Err: errNotHere, Sent: true}
		}
	}()
	request, pool, ok := resident.Unaddressed(passed)
	ep := s.endpointOf(pool)
	if !ok || ep == nil {
		return nil, notTaken()
	}
	if !mcp.MarksModern(request.Header) {
		if sender, ok := ep.Client.(*resident.Sender); ok {
			return sender.Send(ctx, request, 0)
		}
		return nil, notTaken()
	}
	for _, u := range ep.Router.Pool.Upstreams() {
		if u.URL.Scheme == request.URL.Scheme && u.URL.Host == request.URL.Host && u.URL.Path == request.URL.Path {
			request.GoesOn = mcp.MayGoOn(request.Body)
			return ep.Bridge.OnTo(u).Send(ctx, request, 0)
		}
	}
	return nil, notTaken()
}
