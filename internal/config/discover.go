package config

import (
	"net"
	"net/url"
	"path"
	"strings"

	"berth/internal/discover"
)

// Discover is the [pools.discover] table: where a pool's upstreams are heard of beside those that
// the file names.
type Discover struct {
	DNS         string     `toml:"dns"`
	Resolver    string     `toml:"resolver"`
	MinTTL      Duration   `toml:"min_ttl" default:"1s" within:"100ms 1h"`
	MaxTTL      Duration   `toml:"max_ttl" default:"30s" within:"100ms 1h"`
	File        string     `toml:"file"`
	Kubernetes  Kubernetes `toml:"kubernetes"`
	Scheme      string     `toml:"scheme" default:"http" oneof:"http https"`
	Path        string     `toml:"path" default:"/mcp"`
	Era         string     `toml:"era" default:"auto" oneof:"auto modern legacy"`
	EmptyGrace  Duration   `toml:"empty_grace" default:"30s" within:"0s 24h"`
	Linger      Duration   `toml:"linger" default:"1m" within:"100ms 24h"`
	ForgetAfter Duration   `toml:"forget_after" default:"24h" within:"100ms 8760h"`
}

// Kubernetes is the [pools.discover.kubernetes] table. The API server and its files are the pod's
// own where API is empty.
type Kubernetes struct {
	Service   string `toml:"service"`
	Namespace string `toml:"namespace"`
	Port      string `toml:"port"`
	API       string `toml:"api"`
	TokenFile string `toml:"token_file"`
	CAFile    string `toml:"ca_file"`
}

// Enabled reports whether there is a source.
func (d *Discover) Enabled() bool { return d.DNS != "" || d.File != "" || d.Kubernetes.Service != "" }

func (v *validator) discover(key string, d Discover) {
	var set []string
	for _, source := range []struct{ name, value string }{{"dns", d.DNS}, {"file", d.File}, {"kubernetes", d.Kubernetes.Service}} {
		if source.value != "" {
			set = append(set, source.name)
		}
	}
	if len(set) > 1 {
		v.fault(key+"."+set[1], "must not be set together with %s: a pool has one source", set[0])
	}
	v.discoverDNS(key, d)
	v.kubernetes(key+".kubernetes", d.Kubernetes)
	v.endpointPath(key+".path", d.Path)
	v.faultIf(d.ForgetAfter < d.Linger, key+".forget_after", "must not be less than linger, %v, got %v", d.Linger, d.ForgetAfter)
}

func (v *validator) discoverDNS(key string, d Discover) {
	if d.DNS != "" {
		if _, err := discover.NewDNS(discover.DNSOptions{Name: d.DNS}); err != nil {
			v.fault(key+".dns", "%v", err)
		}
		v.faultIf(d.Linger < d.MaxTTL, key+".linger", "must not be less than max_ttl, %v, for which other berths may not have heard that an instance left, got %v", d.MaxTTL, d.Linger)
	}
	v.faultIf(d.MaxTTL < d.MinTTL, key+".max_ttl", "must not be less than min_ttl, %v, got %v", d.MinTTL, d.MaxTTL)
	if d.Resolver == "" {
		return
	}
	v.faultIf(d.DNS == "", key+".resolver", "needs dns")
	v.address(key+".resolver", d.Resolver)
	host, port, err := net.SplitHostPort(d.Resolver)
	v.faultIf(err == nil && (host == "" || port == "0"), key+".resolver", "must name a host and a port from 1 to 65535")
}

func (v *validator) kubernetes(key string, k Kubernetes) {
	v.faultIf(k.Service == "" && k != (Kubernetes{}), key+".service", "is missing")
	v.faultIf(k.Service != "" && (!isHost(k.Service) || strings.Contains(k.Service, ".")), key+".service", "must be the name of a service, got %s", quote(k.Service))
	v.faultIf(k.Namespace != "" && (!isHost(k.Namespace) || strings.Contains(k.Namespace, ".")), key+".namespace", "must be the name of a namespace, got %s", quote(k.Namespace))
	if k.API != "" {
		v.url(key+".api", k.API)
		v.faultIf(k.Service != "" && k.Namespace == "", key+".namespace", "is missing: api is set")
	} else {
		v.faultIf(k.TokenFile != "" || k.CAFile != "", key+".api", "is missing: without it the pod's own token and authorities count")
	}
}

// endpointPath judges the path of a URL to send to.
func (v *validator) endpointPath(key, p string) {
	v.faultIf(!strings.HasPrefix(p, "/") || !isVisible(p) || strings.ContainsAny(p, `?#\`) || strings.Contains(path.Clean(p), ".."),
		key, `must begin with "/", without blanks, "?" or "#", got %s`, quote(p))
	_, err := url.PathUnescape(p)
	v.faultIf(err != nil, key, `must have two hexadecimal digits behind each "%%", got %s`, quote(p))
}
