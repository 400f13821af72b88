package config

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestValidateRefuses(t *testing.T) {
	tests := []struct {
		name, key string
		change    func(*Config)
	}{
		{"listen without port", "listen", func(c *Config) { c.Listen = "127.0.0.1" }},
		{"listen on a port too large", "listen", func(c *Config) { c.Listen = "127.0.0.1:65536" }},
		{"listen on a named port", "listen", func(c *Config) { c.Listen = "127.0.0.1:http" }},
		{"listen on a URL", "listen", func(c *Config) { c.Listen = "http://127.0.0.1:80" }},
		{"no time to drain", "drain", func(c *Config) { c.Drain = 0 }},
		{"level", "log.level", func(c *Config) { c.Log.Level = "INFO" }},
		{"admin without token", "admin.listen", func(c *Config) { c.Admin.Listen = "0.0.0.0:9901" }},
		{"admin without token on all interfaces", "admin.listen", func(c *Config) { c.Admin.Listen = ":9901" }},
		{"admin without token on a name", "admin.listen", func(c *Config) { c.Admin.Listen = "box.example:9901" }},
		{"admin among the clients", "admin.listen", func(c *Config) { c.Admin.Listen = c.Listen }},
		{"admin on no path", "admin.listen", func(c *Config) { c.Admin.Listen = "unix:" }},
		{"admin on a socket without a file", "admin.listen", func(c *Config) { c.Admin.Listen = "unix:@berth" }},
		{"two seal keys", "store.seal_key_file", func(c *Config) {
			c.Store.SealKey, c.Store.SealKeyFile = Secret(strings.Repeat("A", 44)), "b"
		}},
		{"short seal key", "store.seal_key", func(c *Config) { c.Store.SealKey = "c2hvcnQ=" }},
		{"seal key that is no base64", "store.seal_key", func(c *Config) { c.Store.SealKey = Secret(strings.Repeat("?", 44)) }},
		{"answers kept for too long", "pools[0].coalesce", func(c *Config) { c.Pools[0].Coalesce = Duration(6 * time.Second) }},
		{"two tokens", "admin.token_file", func(c *Config) { c.Admin.Token, c.Admin.TokenFile = "a", "b" }},
		{"token with a blank", "admin.token", func(c *Config) { c.Admin.Token = "a b" }},
		{"file without a path", "store.url", func(c *Config) { c.Store.URL = "file:" }},
		{"another store", "store.url", func(c *Config) { c.Store.URL = "postgres://h/db" }},
		{"store without scheme", "store.url", func(c *Config) { c.Store.URL = "127.0.0.1:6379" }},
		{"memory with a path", "store.url", func(c *Config) { c.Store.URL = "memory:///x" }},
		{"redis without host", "store.url", func(c *Config) { c.Store.URL = "redis:///0" }},
		{"sentinels without a master", "store.url", func(c *Config) { c.Store.URL = "redis+sentinel://h1,h2" }},
		{"cluster with a database", "store.url", func(c *Config) { c.Store.URL = "redis+cluster://h1,h2/1" }},
		{"no durability", "store.durability", func(c *Config) { c.Store.Durability = "replicas:0" }},
		{"replicas of memory", "store.durability", func(c *Config) { c.Store.Durability = "replicas:1" }},
		{"near", "store.near", func(c *Config) { c.Store.Near = 0 }},
		{"ttl", "store.max_ttl", func(c *Config) { c.Store.MaxTTL = 0 }},
		{"session idle", "store.session_idle", func(c *Config) { c.Store.SessionIdle = 2 * year }},
		{"principal", "auth.principal", func(c *Config) { c.Auth.Principal = "cookie" }},
		{"principal without name", "auth.principal", func(c *Config) { c.Auth.Principal = "header:" }},
		{"principal that is no token", "auth.principal", func(c *Config) { c.Auth.Principal = "header:X User" }},
		{"principal from Authorization", "auth.principal", func(c *Config) { c.Auth.Principal = "header:authorization" }},
		{"principal from Mcp-Session-Id", "auth.principal", func(c *Config) { c.Auth.Principal = "header:Mcp-Session-Id" }},
		{"principal that nobody may name", "auth.principal", func(c *Config) { c.Auth.Principal, c.TrustedProxies = "header:X-User", nil }},
		{"credentials in no header", "auth.credential_headers[1]", func(c *Config) { c.Auth.CredentialHeaders = []string{"X-Tenant-Key", "X Key"} }},
		{"credentials in Accept", "auth.credential_headers[0]", func(c *Config) { c.Auth.CredentialHeaders = []string{"Accept"} }},
		{"certificate without key", "tls.key", func(c *Config) { c.TLS.Cert = "c" }},
		{"key without certificate", "tls.cert", func(c *Config) { c.TLS.Key = "k" }},
		{"client authority without TLS", "tls.client_ca", func(c *Config) { c.TLS.ClientCA = "a" }},
		{"client certificates", "tls.client_auth", func(c *Config) { c.TLS.ClientAuth = "ask" }},
		{"TLS 1.1", "tls.min_version", func(c *Config) { c.TLS.MinVersion = "1.1" }},
		{"principal from a certificate that nobody asks for", "tls.client_ca", func(c *Config) { c.Auth.Principal, c.TLS.Cert, c.TLS.Key = "cert", "c", "k" }},
		{"tokens that nobody looks at", "auth.principal", func(c *Config) { byTokens(c).Auth.Principal = "none" }},
		{"no issuer", "auth.jwt.issuer", func(c *Config) { byTokens(c).Auth.JWT.Issuer = "" }},
		{"issuer that is no place to go to", "auth.jwt.issuer", func(c *Config) { byTokens(c).Auth.JWT.Issuer = "me" }},
		{"an empty audience", "auth.jwt.audience[1]", func(c *Config) { byTokens(c).Auth.JWT.Audience = []string{"a", ""} }},
		{"no keys", "auth.jwt.jwks", func(c *Config) { byTokens(c).Auth.JWT.JWKS = "" }},
		{"keys from afar without TLS", "auth.jwt.jwks", func(c *Config) { byTokens(c).Auth.JWT.JWKS = "http://issuer.example/keys" }},
		{"keys by another scheme", "auth.jwt.jwks", func(c *Config) { byTokens(c).Auth.JWT.JWKS = "file:///keys" }},
		{"no algorithms", "auth.jwt.algorithms", func(c *Config) { byTokens(c).Auth.JWT.Algorithms = nil }},
		{"empty type", "auth.jwt.types[1]", func(c *Config) { byTokens(c).Auth.JWT.Types = []string{"at+jwt", ""} }},
		{"type with a blank", "auth.jwt.types[0]", func(c *Config) { byTokens(c).Auth.JWT.Types = []string{"at jwt"} }},
		{"algorithm none", "auth.jwt.algorithms[0]", func(c *Config) { byTokens(c).Auth.JWT.Algorithms = []string{"none"} }},
		{"algorithm of a shared key", "auth.jwt.algorithms[1]", func(c *Config) { byTokens(c).Auth.JWT.Algorithms = []string{"RS256", "HS256"} }},
		{"leeway", "auth.jwt.leeway", func(c *Config) { byTokens(c).Auth.JWT.Leeway = hour }},
		{"no resource", "auth.jwt.resource", func(c *Config) { byTokens(c).Auth.JWT.Resource = "" }},
		{"one resource of several pools", "auth.jwt.resource", func(c *Config) {
			byTokens(c).Auth.JWT.Resource = "https://berth.example/mcp"
			p := twin(c)
			p.Name, p.Path = "other", "/other"
		}},
		{"one resource of two hosts", "auth.jwt.resource", func(c *Config) {
			byTokens(c).Auth.JWT.Resource = "https://berth.example"
			c.Pools[0].Hosts = []string{"a.example", "a2.example"}
			p := twin(c)
			p.Name, p.Hosts = "other", []string{"b.example", "b2.example"}
		}},
		{"authorization server", "auth.jwt.authorization_servers[0]", func(c *Config) { byTokens(c).Auth.JWT.AuthorizationServers = []string{"x"} }},
		{"scope", "auth.jwt.scopes[0]", func(c *Config) { byTokens(c).Auth.JWT.Scopes = []string{`a"b`} }},
		{"authorization", "pools[0].authorization", func(c *Config) { c.Pools[0].Authorization = "drop" }},
		{"authorization by nothing", "pools[0].authorization_value", func(c *Config) { c.Pools[0].Authorization = "replace" }},
		{"authorization by two", "pools[0].authorization_value", func(c *Config) {
			p := &c.Pools[0]
			p.Authorization, p.AuthorizationValue, p.AuthorizationValueFile = "replace", "Bearer x", "f"
		}},
		{"authorization without a scheme", "pools[0].authorization_value", func(c *Config) {
			c.Pools[0].Authorization, c.Pools[0].AuthorizationValue = "replace", "x"
		}},
		{"authorization that is not sent", "pools[0].authorization", func(c *Config) { c.Pools[0].AuthorizationValueFile = "f" }},
		{"recover", "auth.recover", func(c *Config) { c.Auth.Recover = "maybe" }},
		{"body", "limits.body", func(c *Config) { c.Limits.Body = 0 }},
		{"headers", "limits.headers", func(c *Config) { c.Limits.Headers = 2 * MiB }},
		{"header read", "limits.header_read", func(c *Config) { c.Limits.HeaderRead = 0 }},
		{"body read", "limits.body_read", func(c *Config) { c.Limits.BodyRead = 0 }},
		{"idle", "limits.idle", func(c *Config) { c.Limits.Idle = 0 }},
		{"write stall", "limits.write_stall", func(c *Config) { c.Limits.WriteStall = 0 }},
		{"task id", "limits.task_id", func(c *Config) { c.Limits.TaskID = 4097 }},
		{"batch", "limits.batch", func(c *Config) { c.Limits.Batch = 0 }},
		{"answer", "limits.answer", func(c *Config) { c.Limits.Answer = 1 }},
		{"header lines", "limits.header_lines", func(c *Config) { c.Limits.HeaderLines = 1 }},
		{"session id", "limits.session_id", func(c *Config) { c.Limits.SessionID = 0 }},
		{"in flight", "limits.in_flight", func(c *Config) { c.Limits.InFlight = 0 }},
		{"buffered less than two bodies", "limits.buffered", func(c *Config) { c.Limits.Buffered = 5 * MiB }},
		{"streams", "limits.streams", func(c *Config) { c.Limits.Streams = 0 }},
		{"in flight per caller", "limits.in_flight_per_caller", func(c *Config) { c.Limits.InFlightPerCaller = 0 }},
		{"streams per caller", "limits.streams_per_caller", func(c *Config) { c.Limits.StreamsPerCaller = -1 }},
		{"connections per address", "limits.connections_per_address", func(c *Config) { c.Limits.ConnectionsPerAddress = 0 }},
		{"last seen entry", "limits.last_seen_entry", func(c *Config) { c.Limits.LastSeenEntry = 1 }},
		{"last seen smaller than an entry", "limits.last_seen_total", func(c *Config) { c.Limits.LastSeenTotal = 32 * KiB }},
		{"traces", "telemetry.traces", func(c *Config) { c.Telemetry.Traces = "localhost:4318" }},
		{"no pools", "pools", func(c *Config) { c.Pools = nil }},
		{"pool without name", "pools[0].name", func(c *Config) { c.Pools[0].Name = "" }},
		{"pool of a name too long", "pools[0].name", func(c *Config) { c.Pools[0].Name = strings.Repeat("x", 129) }},
		{"same pool name", "pools[1].name", func(c *Config) { twin(c).Path = "/other" }},
		{"same path", "pools[1].path", func(c *Config) { twin(c).Name = "other" }},
		{"same path and host in another case", "pools[1].path", func(c *Config) {
			c.Pools[0].Hosts = []string{"a.example", "b.example"}
			p := twin(c)
			p.Name, p.Hosts = "other", []string{"c.example", "B.example"}
		}},
		{"same path and address in another form", "pools[1].path", func(c *Config) {
			c.Pools[0].Hosts = []string{"2001:db8::5"}
			p := twin(c)
			p.Name, p.Hosts = "other", []string{"2001:DB8:0::5"}
		}},
		{"relative path", "pools[0].path", func(c *Config) { c.Pools[0].Path = "mcp" }},
		{"path with a query", "pools[0].path", func(c *Config) { c.Pools[0].Path = "/mcp?x" }},
		{"path with a detour", "pools[0].path", func(c *Config) { c.Pools[0].Path = "/a/../mcp" }},
		{"path with a pattern", "pools[0].path", func(c *Config) { c.Pools[0].Path = "/{id}" }},
		{"path of OAuth", "pools[0].path", func(c *Config) { c.Pools[0].Path = "/.well-known/mcp" }},
		{"host with a port", "pools[0].hosts[0]", func(c *Config) { c.Pools[0].Hosts = []string{"a:1"} }},
		{"session_failover", "pools[0].session_failover", func(c *Config) { c.Pools[0].SessionFailover = "retry" }},
		{"picker", "pools[0].picker", func(c *Config) { c.Pools[0].Picker = "fastest" }},
		{"rendezvous by what", "pools[0].rendezvous_by", func(c *Config) { rendezvous(c, "X-Cart") }},
		{"rendezvous by credentials", "pools[0].rendezvous_by", func(c *Config) { rendezvous(c, "header:authorization") }},
		{"rendezvous of another picker", "pools[0].picker", func(c *Config) { c.Pools[0].RendezvousBy = "header:X-Cart" }},
		{"weight", "pools[0].upstreams[0].weight", func(c *Config) { c.Pools[0].Upstreams[0].Weight = 0 }},
		{"too much weight", "pools[0].upstreams[0].weight", func(c *Config) { c.Pools[0].Upstreams[0].Weight = 257 }},
		{"backups alone", "pools[0].upstreams", func(c *Config) {
			for i := range c.Pools[0].Upstreams {
				c.Pools[0].Upstreams[i].Backup = true
			}
		}},
		{"slow start", "pools[0].slow_start", func(c *Config) { c.Pools[0].SlowStart = -1 }},
		{"max_in_flight", "pools[0].max_in_flight", func(c *Config) { c.Pools[0].MaxInFlight = -1 }},
		{"max_in_flight of one", "pools[0].upstreams[0].max_in_flight", func(c *Config) { c.Pools[0].Upstreams[0].MaxInFlight = -1 }},
		{"queue", "pools[0].queue", func(c *Config) { c.Pools[0].Queue = -1 }},
		{"queue_timeout", "pools[0].queue_timeout", func(c *Config) { c.Pools[0].QueueTimeout = 0 }},
		{"check", "pools[0].health.check", func(c *Config) { c.Pools[0].Health.Check = "ping" }},
		{"check of no path", "pools[0].health.path", func(c *Config) { c.Pools[0].Health.Check = "http" }},
		{"check of another host", "pools[0].health.path", func(c *Config) { c.Pools[0].Health.Check, c.Pools[0].Health.Path = "http", "//h/x" }},
		{"path of no URL", "pools[0].discover.path", func(c *Config) { c.Pools[0].Discover.Path = "/a%zz" }},
		{"path without its check", "pools[0].health.check", func(c *Config) { c.Pools[0].Health.Check, c.Pools[0].Health.Path = "discover", "/x" }},
		{"check by path of a command", "pools[0].health.check", func(c *Config) {
			c.Pools[0].Health.Check, c.Pools[0].Health.Path = "http", "/x"
			c.Pools[0].Upstreams[0].URL, c.Pools[0].Upstreams[0].Command = "", []string{"server"}
		}},
		{"check longer than its interval", "pools[0].health.timeout", func(c *Config) {
			c.Pools[0].Health.Check, c.Pools[0].Health.Timeout = "discover", c.Pools[0].Health.Interval+1
		}},
		{"rise", "pools[0].health.rise", func(c *Config) { c.Pools[0].Health.Rise = 0 }},
		{"fall", "pools[0].health.fall", func(c *Config) { c.Pools[0].Health.Fall = 0 }},
		{"jitter", "pools[0].health.jitter", func(c *Config) { c.Pools[0].Health.Jitter = -1 }},
		{"affinity without a header", "pools[0].affinity[0]", func(c *Config) { c.Pools[0].Affinity = []string{"Mcp-Param-Cart"} }},
		{"affinity to no header's name", "pools[0].affinity[0]", func(c *Config) { c.Pools[0].Affinity = []string{"header:a b"} }},
		{"affinity to a session", "pools[0].affinity[0]", func(c *Config) { c.Pools[0].Affinity = []string{"header:Mcp-Session-Id"} }},
		{"affinity to any parameter", "pools[0].affinity[0]", func(c *Config) { c.Pools[0].Affinity = []string{"header:Mcp-Param-"} }},
		{"affinity to credentials", "pools[0].affinity[0]", func(c *Config) { c.Pools[0].Affinity = []string{"header:authorization"} }},
		{"affinity twice", "pools[0].affinity[1]", func(c *Config) { c.Pools[0].Affinity = []string{"header:X-Cart", "header:x-cart"} }},
		{"affinity to too much", "pools[0].affinity", func(c *Config) {
			for i := range 9 {
				c.Pools[0].Affinity = append(c.Pools[0].Affinity, "header:X-"+strconv.Itoa(i))
			}
		}},
		{"host header", "pools[0].host", func(c *Config) { c.Pools[0].Host = "a/b" }},
		{"no host header", "pools[0].host", func(c *Config) { c.Pools[0].Host = "" }},
		{"origin with a path", "pools[0].origins[1]", func(c *Config) { c.Pools[0].Origins = []string{"https://a", "https://a/"} }},
		{"origin with a slash", "pools[0].origins[0]", func(c *Config) { c.Pools[0].Origins = []string{"https://a/"} }},
		{"origin without scheme", "pools[0].origins[0]", func(c *Config) { c.Pools[0].Origins = []string{"a.example"} }},
		{"headers", "pools[0].headers", func(c *Config) { c.Pools[0].Headers = "Strict" }},
		{"any origin and one", "pools[0].origins[0]", func(c *Config) { c.Pools[0].Origins = []string{"*", "https://a"} }},
		{"any origin below a host", "pools[0].origins[0]", func(c *Config) { c.Pools[0].Origins = []string{"https://*.a"} }},
		{"origin null", "pools[0].origins[0]", func(c *Config) { c.Pools[0].Origins = []string{"null"} }},
		{"grace", "pools[0].owner_grace", func(c *Config) { c.Pools[0].OwnerGrace = 0 }},
		{"keepalive", "pools[0].sse_keepalive", func(c *Config) { c.Pools[0].SSEKeepalive = 0 }},
		{"connect", "pools[0].timeouts.connect", func(c *Config) { c.Pools[0].Timeouts.Connect = 0 }},
		{"read", "pools[0].timeouts.read", func(c *Config) { c.Pools[0].Timeouts.Read = 0 }},
		{"control", "pools[0].timeouts.control", func(c *Config) { c.Pools[0].Timeouts.Control = 0 }},
		{"call", "pools[0].timeouts.call", func(c *Config) { c.Pools[0].Timeouts.Call = -1 }},
		{"ejection on", "pools[0].ejection.on[1]", func(c *Config) { c.Pools[0].Ejection.On = []string{"5xx", "4xx"} }},
		{"ejection failures", "pools[0].ejection.failures", func(c *Config) { c.Pools[0].Ejection.Failures = 0 }},
		{"ejection window", "pools[0].ejection.window", func(c *Config) { c.Pools[0].Ejection.Window = 0 }},
		{"ejection min", "pools[0].ejection.min", func(c *Config) { c.Pools[0].Ejection.Min = 0 }},
		{"ejection max", "pools[0].ejection.max", func(c *Config) { c.Pools[0].Ejection.Max = c.Pools[0].Ejection.Min - 1 }},
		{"ejection percent", "pools[0].ejection.percent", func(c *Config) { c.Pools[0].Ejection.Percent = 101 }},
		{"quiet", "pools[0].timeouts.quiet", func(c *Config) { c.Pools[0].Timeouts.Quiet = -1 }},
		{"linger", "pools[0].timeouts.linger", func(c *Config) { c.Pools[0].Timeouts.Linger = 0 }},
		{"no upstreams", "pools[0].upstreams", func(c *Config) { c.Pools[0].Upstreams = nil }},
		{"no url", "pools[0].upstreams[0].url", func(c *Config) { c.Pools[0].Upstreams[0].URL = "" }},
		{"url with user", "pools[0].upstreams[0].url", func(c *Config) { c.Pools[0].Upstreams[0].URL = "http://u:p@h/mcp" }},
		{"url with query", "pools[0].upstreams[0].url", func(c *Config) { c.Pools[0].Upstreams[0].URL = "http://h/mcp?" }},
		{"url with fragment", "pools[0].upstreams[0].url", func(c *Config) { c.Pools[0].Upstreams[0].URL = "http://h/mcp#" }},
		{"url without host", "pools[0].upstreams[0].url", func(c *Config) { c.Pools[0].Upstreams[0].URL = "http:///mcp" }},
		{"url with port 0", "pools[0].upstreams[0].url", func(c *Config) { c.Pools[0].Upstreams[0].URL = "http://h:0/mcp" }},
		{"upstream name with a blank", "pools[0].upstreams[0].name", func(c *Config) { c.Pools[0].Upstreams[0].Name = "a b" }},
		{"same upstream name", "pools[0].upstreams[1].name", func(c *Config) { c.Pools[0].Upstreams[1].Name = "a" }},
		{"same default upstream name", "pools[0].upstreams[1].name", func(c *Config) {
			c.Pools[0].Upstreams = []Upstream{{URL: "http://h/1", Weight: 1}, {URL: "http://h:80/2", Weight: 1}}
		}},
		{"no replicas", "pools[0].upstreams[0].replicas", func(c *Config) { c.Pools[0].Upstreams[0] = run(func(u *Upstream) { u.Replicas = 0 }) }},
		{"no processes", "pools[0].upstreams[0].max_processes", func(c *Config) { c.Pools[0].Upstreams[0] = run(func(u *Upstream) { u.MaxProcesses = 0 }) }},
		{"same upstream URL", "pools[0].upstreams[1].url", func(c *Config) { c.Pools[0].Upstreams[1].URL = c.Pools[0].Upstreams[0].URL }},
		{"same upstream URL, spelt otherwise", "pools[0].upstreams[1].url", func(c *Config) {
			c.Pools[0].Upstreams = []Upstream{{Name: "a", URL: "http://h/mcp", Weight: 1}, {Name: "b", URL: "HTTP://H:80/mcp", Weight: 1}}
		}},
		{"same upstream address, spelt otherwise", "pools[0].upstreams[1].url", func(c *Config) {
			c.Pools[0].Upstreams = []Upstream{{Name: "a", URL: "https://[::1]/mcp", Weight: 1}, {Name: "b", URL: "https://[0:0::1]:443/mcp", Weight: 1}}
		}},
		{"same upstream of HTTP with SSE, spelt otherwise", "pools[0].upstreams[1].url", func(c *Config) {
			c.Pools[0].Upstreams = []Upstream{{Name: "a", URL: "sse+http://h/sse", Weight: 1}, {Name: "b", URL: "sse+http://H:80/sse", Weight: 1}}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := exampleConfig()
			tt.change(&cfg)
			faults := cfg.Validate()
			if len(faults) != 1 || faults[0].Key != tt.key {
				t.Errorf("got %v, want one fault of %s", faults, tt.key)
			}
		})
	}
}

// run is an upstream that berth runs.
func run(change func(*Upstream)) Upstream {
	u := DefaultUpstream()
	u.Name, u.Command = "run", []string{"server"}
	change(&u)
	return u
}

// byTokens tells callers apart by access tokens, and returns c.
func byTokens(c *Config) *Config {
	c.Auth.Principal = PrincipalJWT
	c.Auth.JWT.Issuer, c.Auth.JWT.JWKS, c.Auth.JWT.Resource = "https://issuer.example", "https://issuer.example/keys", "https://berth.example"
	return c
}

// twin adds a second pool, equal to the first, and returns it.
func twin(c *Config) *Pool {
	c.Pools = append(c.Pools, c.Pools[0])
	return &c.Pools[1]
}

func TestValidateAccepts(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
	}{
		{"all interfaces", func(c *Config) { c.Listen = ":8080" }},
		{"IPv6", func(c *Config) { c.Listen = "[::1]:8080" }},
		{"admin on loopback", func(c *Config) { c.Admin.Listen = "localhost:9901" }},
		{"admin on IPv6 loopback", func(c *Config) { c.Admin.Listen = "[::1]:9901" }},
		{"admin on a socket", func(c *Config) { c.Admin.Listen = "unix:/run/berth/admin.sock" }},
		{"admin with a token", func(c *Config) { c.Admin.Listen, c.Admin.Token = ":9901", "t" }},
		{"admin with a token file", func(c *Config) { c.Admin.Listen, c.Admin.TokenFile = ":9901", "t" }},
		{"both on any free port", func(c *Config) { c.Listen, c.Admin.Listen = "127.0.0.1:0", "127.0.0.1:0" }},
		{"redis", func(c *Config) { c.Store.URL = "redis://u:p@h:6379/0" }},
		{"rediss", func(c *Config) { c.Store.URL = "rediss://h" }},
		{"principal", func(c *Config) { c.Auth.Principal = "header:X-User" }},
		{"a resource of each of two hosts", func(c *Config) {
			byTokens(c)
			c.Pools[0].Hosts = []string{"a.example"}
			p := twin(c)
			p.Name, p.Hosts = "other", []string{"b.example"}
		}},
		{"TLS", func(c *Config) { c.TLS.Cert, c.TLS.Key, c.TLS.MinVersion = "c", "k", "1.3" }},
		{"client certificates that name nobody", func(c *Config) {
			c.TLS.Cert, c.TLS.Key, c.TLS.ClientCA, c.TLS.ClientAuth = "c", "k", "a", "optional"
		}},
		{"principal from certificates", func(c *Config) {
			c.Auth.Principal, c.TLS.Cert, c.TLS.Key, c.TLS.ClientCA = "cert", "c", "k", "a"
		}},
		{"principal from tokens", func(c *Config) { byTokens(c) }},
		{"keys in a file", func(c *Config) { byTokens(c).Auth.JWT.JWKS = "/etc/berth/keys.json" }},
		{"keys on loopback", func(c *Config) { byTokens(c).Auth.JWT.JWKS = "http://127.0.0.1:1/keys" }},
		{"issuer beside authorization servers", func(c *Config) {
			byTokens(c).Auth.JWT.Issuer, c.Auth.JWT.AuthorizationServers = "me", []string{"https://login.example"}
		}},
		{"authorization stripped", func(c *Config) { c.Pools[0].Authorization = "strip" }},
		{"authorization replaced", func(c *Config) {
			c.Pools[0].Authorization, c.Pools[0].AuthorizationValue = "replace", "Bearer x"
		}},
		{"traces", func(c *Config) { c.Telemetry.Traces = "http://localhost:4318" }},
		{"same path, other host", func(c *Config) { p := twin(c); p.Name, p.Hosts = "b", []string{"b.example"} }},
		{"root", func(c *Config) { c.Pools[0].Path = "/" }},
		{"two servers that berth runs", func(c *Config) {
			c.Pools[0].Upstreams = []Upstream{
				{Name: "a", Command: []string{"server"}, Weight: 1, Replicas: 1, MaxProcesses: 1}, {Name: "b", Command: []string{"server"}, Weight: 1, Replicas: 1, MaxProcesses: 1},
			}
		}},
		{"path with a slash behind", func(c *Config) { c.Pools[0].Path = "/mcp/" }},
		{"host literal", func(c *Config) { c.Pools[0].Host = "mcp.internal:8443" }},
		{"host literal IPv6", func(c *Config) { c.Pools[0].Host = "[::1]:8443" }},
		{"any origin", func(c *Config) { c.Pools[0].Origins = []string{"*"} }},
		{"origins", func(c *Config) {
			c.Pools[0].Origins = []string{"http://localhost:6274", "vscode-webview://abc", "HTTPS://App.example:443"}
		}},
		{"upstream without name", func(c *Config) { c.Pools[0].Upstreams[0].Name = "" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := exampleConfig()
			tt.change(&cfg)
			if faults := cfg.Validate(); len(faults) != 0 {
				t.Errorf("got %v, want none", faults)
			}
		})
	}
}

func TestEffectiveNameIsHostAndPort(t *testing.T) {
	for _, tt := range []struct {
		upstream Upstream
		want     string
	}{
		{Upstream{Name: "a", URL: "http://h:1/mcp"}, "a"},
		{Upstream{URL: "http://h:1/mcp"}, "h:1"},
		{Upstream{URL: "http://h/mcp"}, "h:80"},
		{Upstream{URL: "https://h/mcp"}, "h:443"},
		{Upstream{URL: "https://[::1]/mcp"}, "[::1]:443"},
		{Upstream{URL: ":"}, ""},
	} {
		if got := tt.upstream.EffectiveName(); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.upstream, got, tt.want)
		}
	}
}

func rendezvous(c *Config, by string) {
	c.Pools[0].Picker, c.Pools[0].RendezvousBy = PickerRendezvous, by
}
