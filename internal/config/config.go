// Package config is what an operator may say to berth: the TOML file, its
// defaults and its limits. config.example.toml tells what each key means.
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

import (
	"log/slog"
	"path/filepath"
	"strings"
)

// Config is the whole of berth's configuration; start from [Default]. The tags are the keys' names,
// defaults and bounds (schema.go), and which of them a restart takes to change (reload.go).
type Config struct {
	Listen         string   `toml:"listen" default:"127.0.0.1:8080" reload:"restart"`
	Drain          Duration `toml:"drain" default:"30s" within:"1ms 24h" reload:"restart"`
	DrainDelay     Duration `toml:"drain_delay" within:"0s 1h" reload:"restart"`
	DrainHeld      Duration `toml:"drain_held" default:"10m" within:"0s 8760h" reload:"restart"`
	HTTP1          string   `toml:"http1" default:"berth" oneof:"berth net/http" reload:"restart"`
	ReusePort      bool     `toml:"reuse_port" reload:"restart"`
	ProxyProtocol  bool     `toml:"proxy_protocol" reload:"restart"`
	TrustedProxies []Prefix `toml:"trusted_proxies" default:"127.0.0.0/8 ::1/128"`
	Watch          bool     `toml:"watch"`

	Log       Log       `toml:"log"`
	TLS       TLS       `toml:"tls"`
	Admin     Admin     `toml:"admin" reload:"restart"`
	Store     Store     `toml:"store" reload:"restart"`
	Auth      Auth      `toml:"auth"`
	Limits    Limits    `toml:"limits"`
	Telemetry Telemetry `toml:"telemetry" reload:"restart"`
	Pools     []Pool    `toml:"pools"`
	Upgrades  []Upgrade `toml:"upgrade"`
}

// HTTP1NetHTTP is the [Config.HTTP1] that has net/http carry HTTP/1.1.
const HTTP1NetHTTP = "net/http"

// EffectiveDrainHeld returns the time that held calls have after SIGTERM, beside DrainDelay: DrainHeld,
// and no less than Drain. Where nobody shares the store nobody serves meanwhile: they have Drain.
func (c *Config) EffectiveDrainHeld(shared bool) Duration {
	if !shared {
		return c.Drain
	}
	return max(c.Drain, c.DrainHeld)
}

// Log is the [log] table.
type Log struct {
	Level  string `toml:"level" default:"info" oneof:"debug info warn error"`
	Access bool   `toml:"access" default:"true"`
	Audit  string `toml:"audit" default:"off" reload:"restart"`
}

// EffectiveLevel is Level, which was judged with the file.
func (l Log) EffectiveLevel() (level slog.Level) {
	_ = level.UnmarshalText([]byte(l.Level))
	return level
}

// TLS is the [tls] table. The files are read when berth serves.
type TLS struct {
	Cert       string `toml:"cert"`
	Key        string `toml:"key"`
	ClientCA   string `toml:"client_ca"`
	ClientAuth string `toml:"client_auth" default:"require" oneof:"require optional"`
	MinVersion string `toml:"min_version" default:"1.2" oneof:"1.2 1.3"`
	HTTP2      bool   `toml:"http2" reload:"restart"`
}

// ClientAuthOptional is the [TLS.ClientAuth] that lets clients in without a certificate.
const ClientAuthOptional = "optional"

// Enabled reports whether clients are spoken to by TLS.
func (t TLS) Enabled() bool { return t.Cert != "" }

// Admin is the [admin] table. Its token is that of [Admin.ReadToken].
type Admin struct {
	Listen    string   `toml:"listen"`
	Token     Secret   `toml:"token"`
	TokenFile string   `toml:"token_file"`
	Probes    string   `toml:"probes"`
	Payloads  bool     `toml:"payloads"`
	Pprof     bool     `toml:"pprof"`
	TLS       AdminTLS `toml:"tls"`
}

// AdminTLS is the [admin.tls] table. The files are read when berth serves.
type AdminTLS struct {
	Cert     string `toml:"cert"`
	Key      string `toml:"key"`
	ClientCA string `toml:"client_ca"`
}

// Store is the [store] table. Its URL is that of [Store.EffectiveURL], its key that of
// [Store.ReadSealKey].
type Store struct {
	URL         Secret   `toml:"url"`
	URLFile     string   `toml:"url_file"`
	Durability  string   `toml:"durability" default:"ack"`
	Near        int      `toml:"near" default:"100000" within:"1 100000000"`
	MaxTTL      Duration `toml:"max_ttl" default:"168h" within:"1m 8760h"`
	SessionIdle Duration `toml:"session_idle" default:"24h" within:"1m 8760h"`
	HolderLease Duration `toml:"holder_lease" default:"15s" within:"500ms 5m"`
	SealKey     Secret   `toml:"seal_key"`
	SealKeyFile string   `toml:"seal_key_file"`

	TLS ServerTLS `toml:"tls"`
}

const stateFile = "berth.db"

// EffectiveURL returns URL, what URLFile holds or, without either, a file in the first of the
// directories in stateDirectory, $STATE_DIRECTORY (systemd.exec(5)), which is given then; or memory:
// without that. URLFile is read at the call.
func (s Store) EffectiveURL(stateDirectory string) (url Secret, given bool, err error) {
	directory, _, _ := strings.Cut(stateDirectory, ":")
	switch {
	case s.URLFile != "":
		url, err = s.readURL()
		return url, false, err
	case s.URL != "":
		return s.URL, false, nil
	case directory == "":
		return "memory:", false, nil
	}
	return Secret("file:" + filepath.Join(directory, stateFile)), true, nil
}

// Telemetry is the [telemetry] table.
type Telemetry struct {
	Traces string `toml:"traces"`
}

// Default returns the configuration of a berth that was told nothing. It has no pools, and is not
// valid.
func Default() Config { return defaultOf[Config]() }
