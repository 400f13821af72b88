package config

import (
	"net/textproto"
	"net/url"
	"strconv"
	"strings"

	"berth/internal/discover"
	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// Values of keys in [Pool] and [Ejection].
const (
	AuthorizationForward = "forward"
	AuthorizationStrip   = "strip"
	AuthorizationReplace = "replace"

	HeadersStrict  = "strict"
	HeadersLenient = "lenient"

	SessionReinit = "reinit"

	EraAuto   = "auto"
	EraModern = "modern"
	EraLegacy = "legacy"

	EjectOnConnect = "connect"
	EjectOnTimeout = "timeout"
	EjectOn5xx     = "5xx"

	anyOrigin = "*" // stands alone
)

// Pool is one [[pools]] table: the upstreams that offer the same MCP server.
type Pool struct {
	Name                   string     `toml:"name" default:"default"`
	Path                   string     `toml:"path" default:"/mcp"`
	Hosts                  []string   `toml:"hosts"`
	Picker                 string     `toml:"picker" default:"p2c" oneof:"p2c least-load round-robin random rendezvous"`
	RendezvousBy           string     `toml:"rendezvous_by" default:"principal"`
	CountTasks             bool       `toml:"count_tasks"`
	SlowStart              Duration   `toml:"slow_start" within:"0s 24h"`
	MaxInFlight            int        `toml:"max_in_flight" within:"0 1000000"`
	Queue                  int        `toml:"queue" default:"1000" within:"0 1000000"`
	QueueTimeout           Duration   `toml:"queue_timeout" default:"5s" within:"1ms 1h"`
	Affinity               []string   `toml:"affinity"`
	Host                   string     `toml:"host" default:"forward"`
	Authorization          string     `toml:"authorization" default:"forward" oneof:"forward strip replace"`
	AuthorizationValue     Secret     `toml:"authorization_value"`
	AuthorizationValueFile string     `toml:"authorization_value_file"`
	Origins                []string   `toml:"origins"`
	Headers                string     `toml:"headers" default:"strict" oneof:"strict lenient"`
	OwnerGrace             Duration   `toml:"owner_grace" default:"30s" within:"1ms 24h"`
	SessionFailover        string     `toml:"session_failover" default:"reinit" oneof:"notfound reinit"`
	Coalesce               Duration   `toml:"coalesce" within:"0s 5s"`
	SSEKeepalive           Duration   `toml:"sse_keepalive" default:"15s" within:"1ms 1h"`
	FirstDraft             bool       `toml:"first_draft"`
	FleetNotifications     bool       `toml:"fleet_notifications" default:"true"`
	Timeouts               Timeouts   `toml:"timeouts"`
	Ejection               Ejection   `toml:"ejection"`
	Health                 Health     `toml:"health"`
	Bridge                 Bridge     `toml:"bridge"`
	TLS                    ServerTLS  `toml:"tls"`
	Discover               Discover   `toml:"discover"`
	Upstreams              []Upstream `toml:"upstreams"`
}

// Bridge is the [pools.bridge] table.
type Bridge struct {
	SessionIsolation string   `toml:"session_isolation" default:"principal" oneof:"principal call all"`
	Sessions         int      `toml:"sessions" default:"1000" within:"1 100000"`
	Idle             Duration `toml:"idle" default:"5m" within:"1s 24h"`
	Question         Duration `toml:"question" default:"10m" within:"1s 24h"`
}

// Timeouts is the [pools.timeouts] table. Read, Control and Call bound the wait for an answer's
// header.
type Timeouts struct {
	Connect Duration `toml:"connect" default:"2s" within:"1ms 1h"`
	Read    Duration `toml:"read" default:"10s" within:"1ms 1h"`
	Control Duration `toml:"control" default:"30s" within:"1ms 1h"`
	Call    Duration `toml:"call" within:"0s 8760h"`
	Quiet   Duration `toml:"quiet" default:"10s" within:"0s 1h"`
	Linger  Duration `toml:"linger" default:"5m" within:"1ms 24h"`
}

// Ejection is the [pools.ejection] table.
type Ejection struct {
	On       []string `toml:"on" default:"connect timeout 5xx" oneof:"connect timeout 5xx"`
	Failures int      `toml:"failures" default:"5" within:"1 1000"`
	Window   Duration `toml:"window" default:"5m" within:"1ms 24h"`
	Min      Duration `toml:"min" default:"5s" within:"1ms 1h"`
	Max      Duration `toml:"max" default:"1m" within:"1ms 24h"`
	Percent  int      `toml:"percent" default:"50" within:"1 100"`
}

// Upstream is one [[pools.upstreams]] table: one instance by its URL, or as many as Replicas that
// berth runs by Command. Its name is [Upstream.EffectiveName].
type Upstream struct {
	Name  string `toml:"name"`
	URL   string `toml:"url"`
	Drain bool   `toml:"drain"`
	Era   string `toml:"era" default:"auto"`

	Weight      int       `toml:"weight" default:"1" within:"1 256"`
	Backup      bool      `toml:"backup"`
	MaxInFlight int       `toml:"max_in_flight" within:"0 1000000"`
	TLS         ServerTLS `toml:"tls"` // what of the pool's is another's here

	// What follows is of a server that berth runs, and speaks to by stdio.

	Command      []string          `toml:"command"`
	Replicas     int               `toml:"replicas" default:"1" within:"0 1000"`
	Isolation    string            `toml:"isolation" default:"principal"`
	Cwd          string            `toml:"cwd"`
	User         string            `toml:"user"`
	Env          map[string]string `toml:"env" default:"{}"`
	EnvAllow     []string          `toml:"env_allow"`
	MaxProcesses int               `toml:"max_processes" default:"64" within:"0 100000"`
	MaxMemory    Size              `toml:"max_memory" default:"0"`
	StartTimeout Duration          `toml:"start_timeout" default:"1m" within:"0s 1h"`
	Idle         Duration          `toml:"idle" default:"5m" within:"0s 24h"`
	MaxLife      Duration          `toml:"max_life" default:"0s" within:"0s 8760h"`
	Restart      Duration          `toml:"restart" default:"30s" within:"0s 24h"`
}

// DefaultPool returns the pool that a [[pools]] table without keys makes.
func DefaultPool() Pool { return defaultOf[Pool]() }

// EffectiveHosts are Hosts as browsers write them, in lower case, and an address in one way.
func (p Pool) EffectiveHosts() []string {
	hosts := make([]string, len(p.Hosts))
	for i, host := range p.Hosts {
		hosts[i] = wire.HostName(strings.ToLower(host))
	}
	return hosts
}

// EffectiveOrigins are Origins as browsers send them (RFC 6454, 6.2).
func (p Pool) EffectiveOrigins() []string {
	origins := make([]string, len(p.Origins))
	for i, origin := range p.Origins {
		origins[i] = strings.ToLower(origin)
		if u, err := url.Parse(origins[i]); err == nil {
			origins[i] = strings.TrimSuffix(origins[i], ownPort(u))
			origins[i] = strings.Replace(origins[i], "["+u.Hostname()+"]", "["+wire.HostName(u.Hostname())+"]", 1)
		}
	}
	return origins
}

// AffinityHeaders returns the headers of Affinity in canonical form.
func (p *Pool) AffinityHeaders() []string {
	headers := make([]string, len(p.Affinity))
	for i, rule := range p.Affinity {
		headers[i] = affinityHeader(rule)
	}
	return headers
}

func affinityHeader(rule string) string {
	name, ok := strings.CutPrefix(rule, "header:")
	if !ok || !httpguts.ValidHeaderFieldName(name) {
		return ""
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

// Names are those of the instances that the table stands for.
func (u Upstream) Names() []string {
	name := u.EffectiveName()
	if u.Replicas <= 1 {
		return []string{name}
	}
	names := make([]string, u.Replicas)
	for i := range names {
		names[i] = name + "/" + strconv.Itoa(i+1)
	}
	return names
}

// EffectiveName returns Name, or the host and port of URL, the port written out even where URL
// leaves it out.
func (u Upstream) EffectiveName() string {
	if u.Name != "" {
		return u.Name
	}
	target, err := url.Parse(u.URL)
	if err != nil || target.Host == "" {
		return ""
	}
	return discover.HostPort(target)
}

// ownPort is ":" and the port of u if that is its scheme's own, else "".
func ownPort(u *url.URL) string {
	if port := u.Port(); port != "" && port == discover.OwnPort(u.Scheme) {
		return ":" + port
	}
	return ""
}
