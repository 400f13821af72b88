package config

import (
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func twoPools() Config {
	cfg := Default()
	for _, name := range []string{"one", "two"} {
		pool := DefaultPool()
		pool.Name, pool.Upstreams = name, []Upstream{{Name: "a", URL: "http://127.0.0.1:1/mcp"}}
		cfg.Pools = append(cfg.Pools, pool)
	}
	return cfg
}

// What can be changed is told from what a restart takes, which stays as it was.
func TestFollowTellsWhatARestartTakes(t *testing.T) {
	for name, c := range map[string]struct {
		change           func(c *Config)
		applied, restart []string
	}{
		"nothing":      {func(*Config) {}, nil, nil},
		"a limit":      {func(c *Config) { c.Limits.InFlight = 7 }, []string{"limits.in_flight"}, nil},
		"the listener": {func(c *Config) { c.Listen, c.Log.Level = ":1", "debug" }, []string{"log.level"}, []string{"listen"}},
		"the store":    {func(c *Config) { c.Store.URL, c.Store.Near = "file:x", 7 }, nil, []string{"store.url", "store.near"}},
		"a header":     {func(c *Config) { c.Limits.Headers = 4096 }, nil, []string{"limits.headers"}},
		"a time-out":   {func(c *Config) { c.Pools[1].Timeouts.Call = 7 }, []string{"pools.two.timeouts.call"}, nil},
		"an upstream":  {func(c *Config) { c.Pools[0].Upstreams = nil }, []string{"pools.one.upstreams"}, nil},
		"a pool less":  {func(c *Config) { c.Pools = c.Pools[1:] }, []string{"pools.one"}, nil},
		"a pool more":  {func(c *Config) { c.Pools = append(c.Pools, Pool{Name: "three"}) }, []string{"pools.three"}, nil},
		"their order":  {func(c *Config) { slices.Reverse(c.Pools) }, []string{"pools"}, nil},
		"rules":        {func(c *Config) { c.Upgrades = []Upgrade{DefaultUpgrade()} }, []string{"upgrade"}, nil},
		"TLS":          {func(c *Config) { c.TLS.Cert, c.TLS.Key = "c", "k" }, nil, []string{"tls.cert"}},
	} {
		before, next := twoPools(), twoPools()
		c.change(&next)
		got, change := before.Follow(next)
		if !slices.Equal(change.Applied, c.applied) || !slices.Equal(change.Restart, c.restart) {
			t.Errorf("%s: got %+v, want %v and %v", name, change, c.applied, c.restart)
		}
		if c.restart == nil && !reflect.DeepEqual(got, next) {
			t.Errorf("%s: not all of it is applied", name)
		}
		if c.applied == nil && !reflect.DeepEqual(got, before) {
			t.Errorf("%s: what a restart takes has changed", name)
		}
	}
}

// Who may say who connects is the listener's to know.
func TestFollowKeepsWhomAProxysHeaderIsTakenFrom(t *testing.T) {
	for _, reads := range []bool{false, true} {
		before, next := twoPools(), twoPools()
		before.ProxyProtocol, next.ProxyProtocol, next.TrustedProxies = reads, reads, nil
		got, change := before.Follow(next)
		if kept := len(got.TrustedProxies) > 0; kept != reads || slices.Contains(change.Restart, "trusted_proxies") != reads || slices.Contains(change.Applied, "trusted_proxies") == reads {
			t.Errorf("with PROXY %v: got %v, %+v", reads, got.TrustedProxies, change)
		}
	}
}

// Certificates of a listener that speaks TLS are read anew.
func TestFollowChangesCertificates(t *testing.T) {
	before := twoPools()
	before.TLS.Cert, before.TLS.Key = "c", "k"
	next := twoPools()
	next.TLS.Cert, next.TLS.Key, next.Drain = "c2", "k", Duration(time.Minute)
	got, change := before.Follow(next)
	if got.TLS.Cert != "c2" || got.Drain != before.Drain || !slices.Equal(change.Applied, []string{"tls.cert"}) || !slices.Equal(change.Restart, []string{"drain"}) {
		t.Errorf("got %+v, %+v", got.TLS, change)
	}
}

// A file that is good as a whole may say what cannot be in use beside what a restart takes.
func TestWhatRestsOnARestartIsNotInUseBeforeIt(t *testing.T) {
	wide, narrow := Prefix{netip.MustParsePrefix("10.0.0.0/8")}, Prefix{netip.MustParsePrefix("10.0.0.5/32")}
	for name, c := range map[string]struct {
		before, next func(c *Config)
		key          string // of the fault; "": there is none
	}{
		"names of certificates, without TLS": {
			before: func(c *Config) { c.Auth.Principal = "header:X-User" },
			next: func(c *Config) {
				c.TLS.Cert, c.TLS.Key, c.TLS.ClientCA, c.Auth.Principal = "c", "k", "ca", PrincipalCert
			},
			key: "tls.client_ca",
		},
		"a rule's tasks that the store forgets": {
			before: func(*Config) {},
			next: func(c *Config) {
				u := DefaultUpgrade()
				u.Tools, u.TTL, u.MaxTTL = []string{"*"}, 4*c.Store.MaxTTL, 4*c.Store.MaxTTL
				c.Store.MaxTTL, c.Upgrades = 4*c.Store.MaxTTL, []Upgrade{u}
			},
			key: "upgrade[0].ttl",
		},
		"a header of those who are trusted no more": {
			before: func(c *Config) { c.ProxyProtocol, c.TrustedProxies = true, []Prefix{wide} },
			next: func(c *Config) {
				c.ProxyProtocol, c.TrustedProxies, c.Auth.Principal = true, []Prefix{narrow}, "header:X-User"
			},
			key: "auth.principal",
		},
		"what needs none of it": {
			before: func(*Config) {},
			next:   func(c *Config) { c.Drain, c.Limits.InFlight = Duration(time.Minute), 7 },
		},
	} {
		before, next := twoPools(), twoPools()
		for _, pools := range [][]Pool{before.Pools, next.Pools} {
			pools[0].Path, pools[0].Upstreams[0].Weight, pools[1].Upstreams[0].Weight = "/one", 1, 1
		}
		c.before(&before)
		c.next(&next)
		if faults := append(before.Validate(), next.Validate()...); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
		got, change := before.Follow(next)
		switch faults := got.Clashes(next, change); {
		case c.key == "" && len(faults) > 0:
			t.Errorf("%s: %v", name, faults)
		case c.key != "" && (len(faults) == 0 || !strings.HasPrefix(faults[0].Key, c.key) || !strings.HasSuffix(faults[0].Message, strings.Join(change.Restart, ", "))):
			t.Errorf("%s: %v, want one of %s", name, faults, c.key)
		}
	}
}
