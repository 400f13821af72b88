package config

import (
	"strings"
	"testing"
)

// A principal that is no header has no header's name: what asks for the name alone
// must not take "none" for one.
func TestHeaderIsNamedOnlyIfThereIsOne(t *testing.T) {
	for principal, want := range map[string]string{"none": "", "": "", "header:X-User": "X-User"} {
		if name, ok := (Auth{Principal: principal}).Header(); name != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", principal, name, ok, want)
		}
	}
}

// A file without the keys that tokens need says so once for each.
func TestTokensNeedIssuerKeysAndResource(t *testing.T) {
	_, err := Parse("berth.toml", []byte("[auth]\nprincipal = \"jwt\"\n[[pools]]\n[[pools.upstreams]]\nurl = \"http://h/mcp\"\n"))
	for _, key := range []string{"auth.jwt.issuer", "auth.jwt.jwks", "auth.jwt.resource"} {
		if err == nil || strings.Count(err.Error(), key+": is missing") != 1 {
			t.Errorf("got %v, want that %s is missing", err, key)
		}
	}
}

func TestResourceOfAPool(t *testing.T) {
	byHost := func(hosts ...string) Pool { return Pool{Path: "/mcp", Hosts: hosts} }
	pools := []Pool{byHost("A.example"), byHost("b.example", "c.example"), byHost("0::0:1"), byHost(), {Path: "/other", Hosts: []string{"d.example"}}}
	for i, want := range []string{"https://a.example:8443/mcp", "https://h:8443/mcp", "https://[::1]:8443/mcp", "https://h:8443/mcp", "https://h:8443/other"} {
		if got := (JWT{Resource: "https://h:8443"}).ResourceOf(pools[i], pools); got != want {
			t.Errorf("%v: got %s, want %s", pools[i].Hosts, got, want)
		}
	}
	for _, c := range []struct{ resource, path, want string }{
		{"https://h", "/mcp", "https://h/mcp"},
		{"https://h/", "/mcp", "https://h/mcp"},
		{"https://h", "/mcp/", "https://h/mcp"},
		{"https://h/", "/", "https://h"},
		{"https://h/tools/mcp", "/mcp", "https://h/tools/mcp"},
	} {
		if got := (JWT{Resource: c.resource}).ResourceOf(Pool{Path: c.path}, nil); got != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.resource, c.path, got, c.want)
		}
	}
}
