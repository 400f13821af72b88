package config

import (
	"cmp"
	"net/url"
	"strings"

	"berth/internal/discover"
)

// ServerTLS is a tls table for servers that berth connects to: [pools.tls], and tls of an upstream,
// whose keys stand in place of the pool's. The files are read when berth serves.
type ServerTLS struct {
	CA         string `toml:"ca"`
	Cert       string `toml:"cert"`
	Key        string `toml:"key"`
	ServerName string `toml:"server_name"`
	MinVersion string `toml:"min_version"`
}

// Over returns t with the keys of base where it has none. A certificate brings its own key.
func (t ServerTLS) Over(base ServerTLS) ServerTLS {
	if t.Cert == "" {
		t.Cert, t.Key = base.Cert, base.Key
	}
	t.CA, t.ServerName, t.MinVersion = cmp.Or(t.CA, base.CA), cmp.Or(t.ServerName, base.ServerName), cmp.Or(t.MinVersion, base.MinVersion)
	return t
}

// TLSAddress is the host and port at which u is spoken to by TLS, as connections are made to it; ""
// if it is not.
func (u Upstream) TLSAddress() string {
	target, err := url.Parse(strings.TrimPrefix(u.URL, "sse+"))
	if err != nil || target.Scheme != "https" {
		return ""
	}
	return strings.ToLower(discover.HostPort(target))
}

func (v *validator) serverTLS(key string, t ServerTLS) {
	v.faultIf(t.Cert == "" && t.Key != "", key+".cert", "is missing: key is set")
	v.faultIf(t.Cert != "" && t.Key == "", key+".key", "is missing: cert is set")
	v.faultIf(t.ServerName != "" && !isHost(t.ServerName), key+".server_name", "must be a host name or an IP address, without port, got %s", quote(t.ServerName))
	if t.MinVersion != "" {
		v.oneOf(key+".min_version", t.MinVersion, "1.2", "1.3")
	}
}

// upstreamTLS judges what upstreams say of TLS. A connection is made to a host and port, whichever
// path it is for: so two that share these cannot differ.
func (v *validator) upstreamTLS(key string, p Pool) {
	tables := map[string]int{}
	for i, u := range p.Upstreams {
		table := elementKey(key+".upstreams", i)
		address := u.TLSAddress()
		v.serverTLS(table+".tls", u.TLS)
		v.faultIf(u.TLS != ServerTLS{} && address == "", table+".tls", "needs an https or sse+https URL")
		first, taken := tables[address]
		switch {
		case address == "":
		case !taken:
			tables[address] = i
		case u.TLS.Over(p.TLS) != p.Upstreams[first].TLS.Over(p.TLS):
			v.fault(table+".tls", "must be that of %s, which has the same host and port", elementKey(key+".upstreams", first))
		}
	}
}
