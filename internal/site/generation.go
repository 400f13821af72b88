package site

import (
	"fmt"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"time"

	"berth/internal/config"
	"berth/internal/parts"
	"berth/internal/reload"
	"berth/proxy"
	"berth/upgrade"
)

// generation is what one reading of the configuration makes. It does not change, and serves the
// requests that came while it was the newest.
type generation struct {
	site    *Site
	cfg     config.Config
	digest  string // of cfg
	callers *callers
	faces   []*proxy.Endpoint
	proxy   *proxy.Proxy // made when it is used

	receivers   []upgrade.Receiver    // that its rules name
	secretFiles map[string]secretFile // theirs, by path

	trusts   map[string]*trusts // of the pools whose upstreams are spoken to by TLS as the configuration says
	assigned []assignment       // its pools, and who is to be in them
	changes  []func()           // what changes for all with it; none of it can fail

	taken []string     // keys of the parts in its use
	users atomic.Int64 // requests, and one while it is the newest; 0: it has ended
	over  func()       // leave, kept since making it allocates
}

// newGeneration makes what cfg asks for. It reads files and opens no connection. One that is not to
// be used is dropped.
func (s *Site) newGeneration(cfg config.Config) (*generation, error) {
	g := &generation{site: s, cfg: cfg, digest: cfg.Digest()}
	g.users.Store(1)
	g.over = g.leave
	if err := g.make(); err != nil {
		g.drop()
		return nil, err
	}
	return g, nil
}

// make makes what cfg says, by the parts that there are or, in their place, new ones. The error joins all that is wrong.
func (g *generation) make() (err error) {
	faults := []error{eachAt("tls", "", g.readCerts())}
	if g.callers, err = g.newCallers(g.cfg.Auth); err != nil {
		g.callers = &callers{auth: g.cfg.Auth}
		faults = append(faults, eachAt("auth.jwt.jwks", "", err))
	}
	for i, pool := range g.cfg.Pools {
		ep, err := g.newEndpoint(pool)
		faults = append(faults, eachAt(fmt.Sprintf("pools[%d]", i), "pool "+pool.Name, err))
		g.faces = append(g.faces, ep)
	}
	g.receivers, err = g.newReceivers(g.cfg)
	return reload.Join(append(faults, err)...)
}

// share takes the part with this key into use for a generation, which drops it. Where there is
// none, make makes it; what goes on in it begins when the generation is used.
func share[T any](g *generation, key string, make func() (T, parts.Life, error)) (T, error) {
	return parts.Share(g.site.parts, &g.taken, key, make)
}

// then has something be done when the generation becomes the newest.
func (g *generation) then(change func()) { g.changes = append(g.changes, change) }

// become has all that generations share be as this one says.
func (g *generation) become() {
	g.assignMembers()
	for _, change := range g.changes {
		change()
	}
}

// join counts one request more, unless the generation has ended.
func (g *generation) join() bool {
	for {
		n := g.users.Load()
		if n == 0 {
			return false
		}
		if g.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// leave counts one less. With the last one the generation ends.
func (g *generation) leave() {
	if g.users.Add(-1) == 0 {
		g.drop()
		g.site.serving.Add(-1)
	}
}

// drop lets go of what no other generation uses.
func (g *generation) drop() { g.site.parts.Drop(g.taken) }

func (g *generation) proxyOptions() proxy.Options {
	s := g.site
	o := proxyOptions(g.cfg, g.faces, s.loopback, s.Observers)
	if s.store.Shared() {
		o.Notices = s.store
	}
	o.Keys, o.Rules, o.Tasks, o.Decisions = s.keys, upgradeRules(g.cfg), s.tasks.Load(), s.decisions
	return o
}

func proxyOptions(cfg config.Config, endpoints []*proxy.Endpoint, loopback bool, o Observers) proxy.Options {
	return proxy.Options{
		Endpoints:      endpoints,
		Loopback:       loopback,
		TrustedProxies: trustedProxies(cfg),

		CredentialHeaders: cfg.Auth.CredentialHeaders,

		Limits: proxy.Limits{
			Body:       int64(cfg.Limits.Body),
			BodyRead:   time.Duration(cfg.Limits.BodyRead),
			Answer:     int64(cfg.Limits.Answer),
			WriteStall: time.Duration(cfg.Limits.WriteStall),
			Headers:    cfg.Limits.HeaderLines,
			TaskID:     cfg.Limits.TaskID,
			SessionID:  cfg.Limits.SessionID,
			Batch:      cfg.Limits.Batch,

			InFlight:          cfg.Limits.InFlight,
			InFlightPerCaller: cfg.Limits.InFlightPerCaller,
			Buffered:          int64(cfg.Limits.Buffered),
			Streams:           cfg.Limits.Streams,
			StreamsPerCaller:  cfg.Limits.StreamsPerCaller,
			Polls:             float64(cfg.Limits.Polls),
			UnknownIDs:        float64(cfg.Limits.UnknownIDs),
		},
		LastSeen:  proxy.LastSeen{Entry: int(cfg.Limits.LastSeenEntry), Total: int(cfg.Limits.LastSeenTotal)},
		Logger:    o.Log,
		AccessLog: accessLog(cfg.Log, o),
		Meter:     o.Meter,
		Tracer:    o.Tracer,
		Troubles:  o.Troubles,
		AuditLog:  o.Deeds,
	}
}

func accessLog(cfg config.Log, o Observers) *slog.Logger {
	if !cfg.Access {
		return nil
	}
	return o.Access
}

func trustedProxies(cfg config.Config) (trusted []netip.Prefix) {
	for _, prefix := range cfg.TrustedProxies {
		trusted = append(trusted, prefix.Prefix)
	}
	return trusted
}
