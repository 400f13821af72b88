package config

import (
	"strings"
	"testing"
)

func TestUpstreamTLSFaults(t *testing.T) {
	const upstream = "[[pools.upstreams]]\nurl = \"%\"\n"
	for _, c := range []struct{ text, want string }{
		{"[pools.tls]\ncert = \"a\"\n" + upstream, "f:2: pools[0].tls.key: is missing: cert is set"},
		{"[pools.tls]\nkey = \"a\"\n" + upstream, "f:2: pools[0].tls.cert: is missing: key is set"},
		{"[pools.tls]\nmin_version = \"1.1\"\n" + upstream, `f:3: pools[0].tls.min_version: must be one of 1.2, 1.3, got "1.1"`},
		{"[pools.tls]\nserver_name = \"a:1\"\n" + upstream, `f:3: pools[0].tls.server_name: must be a host name or an IP address, without port, got "a:1"`},
		{"[[pools.upstreams]]\nurl = \"http://a/mcp\"\ntls = { ca = \"a\" }\n", "f:4: pools[0].upstreams[0].tls: needs an https or sse+https URL"},
		{upstream + "tls = { ca = \"a\" }\n" + strings.Replace(upstream, "%", "https://a:443/other", 1) + "name = \"b\"\n",
			"f:5: pools[0].upstreams[1].tls: must be that of pools[0].upstreams[0], which has the same host and port"},
		{upstream + "tls = { ca = \"a\" }\n" + strings.Replace(upstream, "%", "sse+https://A/sse", 1) + "name = \"b\"\ntls = { ca = \"a\" }\n", ""},
		{"[pools.tls]\nca = \"a\"\nmin_version = \"1.3\"\n" + upstream, ""},
	} {
		_, err := Parse("f", []byte("[[pools]]\n"+strings.Replace(c.text, "%", "https://a/mcp", 1)))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestUpstreamsTLSStandsOverThePools(t *testing.T) {
	pool := ServerTLS{CA: "ca", Cert: "cert", Key: "key", ServerName: "name", MinVersion: "1.2"}
	for _, c := range []struct{ own, want ServerTLS }{
		{ServerTLS{}, pool},
		{ServerTLS{CA: "x"}, ServerTLS{CA: "x", Cert: "cert", Key: "key", ServerName: "name", MinVersion: "1.2"}},
		{ServerTLS{Cert: "c", Key: "k", MinVersion: "1.3"}, ServerTLS{CA: "ca", Cert: "c", Key: "k", ServerName: "name", MinVersion: "1.3"}},
	} {
		if got := c.own.Over(pool); got != c.want {
			t.Errorf("got %+v, want %+v", got, c.want)
		}
	}
}
