package config

import (
	"net"
	"net/url"
	"strings"
	"time"
)

// The values of [Pool.Picker], [Pool.SessionFailover] and [Pool.Headers], and the reserved ones of
// [Pool.Host] and [Pool.Origins].
const (
	// PickerP2C is power of two choices on requests in flight.
	PickerP2C = "p2c"
	// PickerRoundRobin takes the upstreams in turn.
	PickerRoundRobin = "round-robin"
	// HostForward sends the Host header as the client wrote it.
	HostForward = "forward"
	// HostUpstream sends the host of the upstream's URL.
	HostUpstream = "upstream"
	// SessionNotFound tells the client that its session is gone.
	SessionNotFound = "notfound"
	// SessionReinit opens the session anew on another upstream.
	SessionReinit = "reinit"
	// AnyOrigin lets the pages of every origin in.
	AnyOrigin = "*"
	// HeadersStrict refuses what lacks a header that a server must demand.
	HeadersStrict = "strict"
	// HeadersLenient takes from the body what headers lack.
	HeadersLenient = "lenient"
)

// Pool is one [[pools]] table: the upstreams that offer the same MCP server.
type Pool struct {
	// Name tells pools apart in logs, metrics and the store. Renaming a pool
	// makes its bindings unknown.
	Name string `toml:"name"`
	// Path is the MCP endpoint, where clients POST to.
	Path string `toml:"path"`
	// Hosts are the names this pool answers for, without a port. Empty: any that
	// no other pool of the same path claims.
	Hosts []string `toml:"hosts"`
	// Picker chooses an upstream for unbound work: "p2c" or "round-robin".
	Picker string `toml:"picker"`
	// Affinity are headers, "header:NAME", whose values keep calls at one upstream,
	// those first that count more. Empty: none.
	Affinity []string `toml:"affinity"`
	// Host is the Host header sent upstream: "forward", "upstream", or a literal.
	Host string `toml:"host"`
	// Authorization says what becomes of the caller's Authorization header upstream:
	// "forward", "strip" or "replace".
	Authorization string `toml:"authorization"`
	// AuthorizationValue is what replaces it: the header's whole value.
	AuthorizationValue Secret `toml:"authorization_value"`
	// AuthorizationValueFile is the path of a file that holds that value, read when
	// berth serves and anew when it changes. One of the two is set with "replace".
	AuthorizationValueFile string `toml:"authorization_value_file"`
	// Origins are the browser origins let in, beside the one that a request is sent
	// to and, on a loopback listener, those of loopback. [AnyOrigin], alone, is all.
	Origins []string `toml:"origins"`
	// Headers says what becomes of requests for tasks of berth's own that lack headers
	// which mirror the body: "strict" or "lenient".
	Headers string `toml:"headers"`
	// OwnerGrace is how long polls are answered with the last task seen while the
	// task's owner is silent.
	OwnerGrace Duration `toml:"owner_grace"`
	// SessionFailover is what becomes of a session whose upstream is gone or has
	// forgotten it: "notfound" or "reinit".
	SessionFailover string `toml:"session_failover"`
	// Coalesce is how long after it came the answer to a poll is given to other polls of
	// the same task by the same caller. Zero: only to those that came while it was
	// under way.
	Coalesce Duration `toml:"coalesce"`
	// SSEKeepalive is the silence on an event stream after which a comment is
	// sent.
	SSEKeepalive Duration `toml:"sse_keepalive"`
	// FirstDraft has tasks of the withdrawn first draft found by the ids that their
	// clients make.
	FirstDraft bool `toml:"first_draft"`
	// FleetNotifications has subscriptions hear of every instance's lists and
	// resources, not of one's.
	FleetNotifications bool `toml:"fleet_notifications"`
	// Timeouts bound one exchange with an upstream.
	Timeouts Timeouts `toml:"timeouts"`
	// Ejection says when an upstream that fails gets no unbound work.
	Ejection Ejection `toml:"ejection"`
	// Upstreams are the instances; at least one.
	Upstreams []Upstream `toml:"upstreams"`
}

// Timeouts is the [pools.timeouts] table. All but Connect, Quiet and Linger bound the
// wait for an answer's header, not for its body.
type Timeouts struct {
	// Connect bounds the making of a connection.
	Connect Duration `toml:"connect"`
	// Read is for pure reads (lists, reads, server/discover) and tasks/get.
	Read Duration `toml:"read"`
	// Control is for the other short calls.
	Control Duration `toml:"control"`
	// Call is for tools/call, tasks/result and streams. Zero: none, since a tool
	// may think for an hour.
	Call Duration `toml:"call"`
	// Quiet is how long an upstream may be silent about a call or a stream that nothing
	// else bounds before it is asked for a sign of life. Zero: it is not asked.
	Quiet Duration `toml:"quiet"`
	// Linger is how long the answer to a legacy call is read on after its client
	// left: it may still bear a task id.
	Linger Duration `toml:"linger"`
}

// Upstream is one [[pools.upstreams]] table: one MCP server instance.
type Upstream struct {
	// Name outlives the address: tasks and sessions are bound to it. Empty: the
	// host:port of URL; see [Upstream.EffectiveName].
	Name string `toml:"name"`
	// URL is the instance's MCP endpoint, http or https.
	URL string `toml:"url"`
	// Drain gives the instance no new work; it keeps what it owns.
	Drain bool `toml:"drain"`
}

// DefaultPool returns the pool that a [[pools]] table without keys makes. It has
// no upstreams.
func DefaultPool() Pool {
	return Pool{
		Name:            "default",
		Path:            "/mcp",
		Picker:          PickerP2C,
		Host:            HostForward,
		Authorization:   AuthorizationForward,
		Headers:         HeadersStrict,
		OwnerGrace:      Duration(30 * time.Second),
		SessionFailover: SessionReinit,
		SSEKeepalive:    Duration(15 * time.Second),

		FleetNotifications: true,
		Timeouts: Timeouts{
			Connect: Duration(2 * time.Second),
			Read:    Duration(10 * time.Second),
			Control: Duration(30 * time.Second),
			Quiet:   Duration(10 * time.Second),
			Linger:  Duration(5 * time.Minute),
		},
		Ejection: defaultEjection(),
	}
}

// EffectiveOrigins are Origins as browsers send them (RFC 6454, 6.2): in lower case, without
// the scheme's own port.
func (p Pool) EffectiveOrigins() []string {
	origins := make([]string, len(p.Origins))
	for i, origin := range p.Origins {
		origins[i] = strings.ToLower(origin)
		if u, err := url.Parse(origins[i]); err == nil && u.Port() != "" && u.Port() == schemePorts[u.Scheme] {
			origins[i] = strings.TrimSuffix(origins[i], ":"+u.Port())
		}
	}
	return origins
}

var schemePorts = map[string]string{"http": "80", "https": "443"}

// EffectiveName returns Name, or the host and port of URL where no name is
// given. The port is written out even if the URL leaves it to the scheme.
func (u Upstream) EffectiveName() string {
	if u.Name != "" {
		return u.Name
	}
	target, err := url.Parse(u.URL)
	if err != nil || target.Host == "" {
		return ""
	}
	port := target.Port()
	if port == "" {
		port = schemePorts[target.Scheme]
	}
	return net.JoinHostPort(target.Hostname(), port)
}
