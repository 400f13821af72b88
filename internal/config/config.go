// Package config is what an operator may say to berth: the TOML file, its
// defaults and its limits.
//
// It promises that a file is judged whole: every unknown key, wrong type and bad
// value is reported in one go, each with the line it stands on, and no text that
// it writes repeats a secret. It opens no socket and resolves no name, so a file
// can be checked on another machine than the one it is meant for.
//
// The price of reporting everything at once is a decoder and a line finder of
// our own on top of the TOML library, which stops at the first wrong type and
// knows no positions inside [[arrays of tables]].
package config

import "time"

// Config is the whole of berth's configuration. Its zero value is not usable;
// start from [Default].
type Config struct {
	// Listen is the host:port where clients connect. The host may be empty,
	// which means every interface.
	Listen string `toml:"listen"`
	// Drain is how long calls and streams may go on after SIGTERM.
	Drain Duration `toml:"drain"`
	// TrustedProxies are the peers whose X-Forwarded-*, Via and principal header
	// are believed. Empty: nobody's are.
	TrustedProxies []Prefix `toml:"trusted_proxies"`

	// Log says what is written to stderr.
	Log Log `toml:"log"`
	// TLS is what the listener for clients speaks, if it speaks TLS.
	TLS TLS `toml:"tls"`
	// Admin is the listener for health and metrics.
	Admin Admin `toml:"admin"`
	// Store is where bindings live.
	Store Store `toml:"store"`
	// Auth says who a caller is taken for.
	Auth Auth `toml:"auth"`
	// Limits bound what one client may cost.
	Limits Limits `toml:"limits"`
	// Telemetry says where traces go.
	Telemetry Telemetry `toml:"telemetry"`
	// Pools are the MCP servers that berth stands in front of; at least one.
	Pools []Pool `toml:"pools"`
	// Upgrades name the tools whose calls become tasks; of several rules the first that
	// names a tool counts. Empty: no call does.
	Upgrades []Upgrade `toml:"upgrade"`
}

// Log is the [log] table.
type Log struct {
	// Level is the least severe level written: debug, info, warn or error.
	Level string `toml:"level"`
	// Access writes one JSON line a request, at level info.
	Access bool `toml:"access"`
}

// Admin is the [admin] table.
type Admin struct {
	// Listen is a host:port or unix:PATH. Empty: no admin listener.
	Listen string `toml:"listen"`
	// Token must be presented as a bearer token. Empty: none is asked for, which
	// is allowed only on loopback and on a Unix socket.
	Token Secret `toml:"token"`
	// TokenFile is the path of a file that holds the token. At most one of the
	// two is set. See [Admin.ReadToken].
	TokenFile string `toml:"token_file"`
}

// Store is the [store] table.
type Store struct {
	// URL names the store: memory:, file:PATH, redis://…, unix://…, redis+sentinel://…
	// or redis+cluster://…, with rediss for TLS. It may carry passwords. Empty: see
	// [Store.EffectiveURL].
	URL Secret `toml:"url"`
	// Durability is what has to have a binding before it counts as stored: "ack", the
	// server that acknowledges it; "replicas:N", N of its Redis replicas as well.
	Durability string `toml:"durability"`
	// Near is the number of bindings kept in the LRU in front of a shared store.
	Near int `toml:"near"`
	// MaxTTL caps the life of a task's binding, whatever TTL its server names, and the
	// TTL of upgraded tasks.
	MaxTTL Duration `toml:"max_ttl"`
	// SessionIdle is how long the binding of an unused session is kept.
	SessionIdle Duration `toml:"session_idle"`
	// HolderLease is how long a berth that keeps calls and does not renew its lease is
	// taken for alive. It renews it every third of that.
	HolderLease Duration `toml:"holder_lease"`
	// SealKey is the secret under which berth seals what clients carry for it, such
	// as the cursor of a pool's tasks: base64 of at least 32 random bytes, the same at
	// all berths that share the store. Empty: a random one, kept in the store.
	SealKey Secret `toml:"seal_key"`
	// SealKeyFile is the path of a file that holds the key. At most one of the two is
	// set. See [Store.ReadSealKey].
	SealKeyFile string `toml:"seal_key_file"`
}

// Telemetry is the [telemetry] table.
type Telemetry struct {
	// Traces is the OTLP endpoint's URL. Empty: traces are exported only where
	// the OTEL_* environment names an endpoint.
	Traces string `toml:"traces"`
}

// Default returns the configuration of a berth that was told nothing. It has no
// pools and so does not pass [Config.Validate].
func Default() Config {
	return Config{
		Listen:         "127.0.0.1:8080",
		Drain:          Duration(30 * time.Second),
		TrustedProxies: []Prefix{mustPrefix("127.0.0.0/8"), mustPrefix("::1/128")},
		Log:            Log{Level: "info", Access: true},
		TLS:            defaultTLS(),
		Store: Store{
			Durability:  "ack",
			Near:        100_000,
			MaxTTL:      Duration(7 * 24 * time.Hour),
			SessionIdle: Duration(24 * time.Hour),
			HolderLease: Duration(15 * time.Second),
		},
		Auth:   Auth{Principal: PrincipalNone, Recover: RecoverNever, JWT: defaultJWT()},
		Limits: defaultLimits(),
	}
}
