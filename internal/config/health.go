package config

import (
	"net/url"
	"slices"
	"strings"
)

// Values of [Health.Check].
const (
	CheckDiscover   = "discover"
	CheckInitialize = "initialize"
	CheckHTTP       = "http"
)

// Health is the [pools.health] table.
type Health struct {
	Check    string   `toml:"check"`
	Path     string   `toml:"path"`
	Interval Duration `toml:"interval" default:"5s" within:"100ms 1h"`
	Jitter   Duration `toml:"jitter" default:"1s" within:"0s 1h"`
	Timeout  Duration `toml:"timeout" default:"2s" within:"10ms 1h"`
	Rise     int      `toml:"rise" default:"2" within:"1 100"`
	Fall     int      `toml:"fall" default:"3" within:"1 100"`
}

func (v *validator) health(pool string, p Pool) {
	key, h := pool+".health", p.Health
	if h.Check != "" {
		v.oneOf(key+".check", h.Check, CheckDiscover, CheckInitialize, CheckHTTP)
	}
	u, err := url.Parse(h.Path)
	switch {
	case h.Check != CheckHTTP && h.Path != "":
		v.fault(key+".check", "must be %q for path to count", CheckHTTP)
	case h.Check != CheckHTTP:
	case h.Path == "":
		v.fault(key+".path", "is missing: check is %q", CheckHTTP)
	case err != nil || u.Host != "" || u.Fragment != "" || !strings.HasPrefix(h.Path, "/") || !isVisible(h.Path):
		v.fault(key+".path", `must be a path such as "/healthz", with or without a query, got %s`, quote(h.Path))
	}
	v.faultIf(h.Check != "" && h.Timeout > h.Interval, key+".timeout", "must not be more than interval, %v, got %v", h.Interval, h.Timeout)
	if h.Check == CheckHTTP && slices.ContainsFunc(p.Upstreams, func(u Upstream) bool { return len(u.Command) > 0 }) {
		v.fault(key+".check", "must not be %q in a pool with a command, which has no paths", CheckHTTP)
	}
}
