package config

import (
	"strings"
	"testing"
)

func TestSourcesAreJudged(t *testing.T) {
	for _, tt := range []struct {
		name, text, key, words string
	}{
		{"two sources", "dns = \"a:1\"\nfile = \"f\"", "pools[0].discover.file", "together with dns"},
		{"no port", `dns = "mcp"`, "pools[0].discover.dns", "host:port"},
		{"port 0", `dns = "mcp:0"`, "pools[0].discover.dns", "port"},
		{"resolver alone", "file = \"f\"\nresolver = \"127.0.0.1:53\"", "pools[0].discover.resolver", "needs dns"},
		{"resolver without port", "dns = \"a:1\"\nresolver = \"127.0.0.1\"", "pools[0].discover.resolver", "host:port"},
		{"resolver anywhere", "dns = \"a:1\"\nresolver = \":53\"", "pools[0].discover.resolver", "must name a host"},
		{"times", "dns = \"a:1\"\nmin_ttl = \"1m\"\nmax_ttl = \"30s\"", "pools[0].discover.max_ttl", "less than min_ttl"},
		{"linger", "dns = \"a:1\"\nlinger = \"10s\"", "pools[0].discover.linger", "less than max_ttl"},
		{"forget_after", "dns = \"a:1\"\nforget_after = \"30s\"", "pools[0].discover.forget_after", "less than linger"},
		{"scheme", "dns = \"a:1\"\nscheme = \"sse+http\"", "pools[0].discover.scheme", "one of"},
		{"path", "dns = \"a:1\"\npath = \"mcp\"", "pools[0].discover.path", "begin with"},
		{"era", "dns = \"a:1\"\nera = \"old\"", "pools[0].discover.era", "one of"},
		{"service", `kubernetes = { service = "a.b" }`, "pools[0].discover.kubernetes.service", "name of a service"},
		{"no service", `kubernetes = { port = "http" }`, "pools[0].discover.kubernetes.service", "is missing"},
		{"namespace", `kubernetes = { service = "a", namespace = "a/b" }`, "pools[0].discover.kubernetes.namespace", "name of a namespace"},
		{"api without namespace", `kubernetes = { service = "a", api = "https://k:6443" }`, "pools[0].discover.kubernetes.namespace", "is missing"},
		{"token without api", `kubernetes = { service = "a", token_file = "t" }`, "pools[0].discover.kubernetes.api", "is missing"},
		{"nobody at all", "", "pools[0].upstreams", "at least one"},
	} {
		_, err := Parse("f", []byte("[[pools]]\n[pools.discover]\n"+tt.text+"\n"))
		if err == nil || !strings.Contains(err.Error(), tt.key+": ") || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: got %v, want a fault of %s with %q", tt.name, err, tt.key, tt.words)
		}
	}
}

func TestASourceStandsForUpstreams(t *testing.T) {
	for _, text := range []string{
		`dns = "mcp.default.svc:7101"`, `dns = "_mcp._tcp.example.com"`, `dns = "srv+mcp.example"`, "dns = \"a:1\"\nresolver = \"[::1]:5353\"",
		`file = "upstreams.json"`, `kubernetes = { service = "mcp" }`, `kubernetes = { service = "mcp", namespace = "x", port = "http", api = "https://k:6443", token_file = "t", ca_file = "c" }`,
	} {
		cfg, err := Parse("f", []byte("[[pools]]\n[pools.discover]\n"+text+"\n"))
		if err != nil || !cfg.Pools[0].Discover.Enabled() || len(cfg.Pools[0].Upstreams) != 0 {
			t.Errorf("%s: got %v", text, err)
		}
	}
}
