package config

import (
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"

	"berth/internal/discover"
)

// maxName bounds names, which are metric labels and parts of keys in the store; in bytes.
const maxName = 128

func (v *validator) pools(pools []Pool) {
	v.faultIf(len(pools) == 0, "pools", "there must be at least one")
	names, places := map[string]string{}, map[string]string{}
	for i, p := range pools {
		key := elementKey("pools", i)
		v.pool(key, p)
		v.unique(names, p.Name, key+".name", "is the name of %s already")
		for _, place := range p.places() {
			v.unique(places, place, key+".path", "and hosts are those of %s already")
		}
	}
}

func (p *Pool) places() []string {
	if len(p.Hosts) == 0 {
		return []string{p.Path}
	}
	places := make([]string, len(p.Hosts))
	for i, host := range p.EffectiveHosts() {
		places[i] = host + " " + p.Path
	}
	return places
}

func (v *validator) unique(taken map[string]string, value, key, format string) {
	table := key[:strings.LastIndexByte(key, '.')]
	switch first, ok := taken[value]; {
	case value == "": // Reported as missing.
	case ok:
		v.fault(key, format, first)
	default:
		taken[value] = table
	}
}

func (v *validator) pool(key string, p Pool) {
	v.bounds(key, reflect.ValueOf(p))
	v.name(key+".name", p.Name)
	v.path(key+".path", p.Path)
	for i, host := range p.Hosts {
		v.faultIf(!isHost(host), elementKey(key+".hosts", i), "must be a host name or an IP address, without port or scheme, got %s", quote(host))
	}
	v.affinity(key+".affinity", p.Affinity)
	v.hostHeader(key+".host", p.Host)
	v.authorization(key, p)
	v.origins(key+".origins", p.Origins)
	v.faultIf(p.Ejection.Max < p.Ejection.Min, key+".ejection.max", "must not be less than min, %v, got %v", p.Ejection.Min, p.Ejection.Max)
	v.health(key, p)
	v.balance(key, p)
	v.serverTLS(key+".tls", p.TLS)
	v.discover(key+".discover", p.Discover)
	v.faultIf(len(p.Upstreams) == 0 && !p.Discover.Enabled(), key+".upstreams", "there must be at least one, or a source of them in discover")
	v.upstreams(key+".upstreams", p.Upstreams)
	v.upstreamTLS(key, p)
}

func (v *validator) name(key, name string) {
	v.faultIf(len(name) > maxName || !isVisible(name), key, "must be 1 to %d visible ASCII characters without blanks, got %s", maxName, quote(name))
}

func (v *validator) path(key, p string) {
	clean := path.Clean("/" + p)
	switch {
	case !strings.HasPrefix(p, "/"):
		v.fault(key, `must begin with "/", got %s`, quote(p))
	case !isVisible(p) || strings.ContainsAny(p, `?#%\{}`):
		v.fault(key, `must be plain: no blanks, "?", "#", "%%", "\" or braces, got %s`, quote(p))
	case p != clean && p != clean+"/":
		v.fault(key, "must be written without detours, as %s, got %s", quote(clean), quote(p))
	case clean == "/.well-known" || strings.HasPrefix(clean, "/.well-known/"):
		v.fault(key, "must not be under /.well-known, which OAuth discovery needs, got %s", quote(p))
	}
}

// hostHeader judges a literal host[:port]; the two reserved words are such, too.
func (v *validator) hostHeader(key, host string) {
	u, err := url.Parse("http://" + host)
	if err != nil || u.Host != host || !isHost(u.Hostname()) || !validPort(u) {
		v.fault(key, `must be "forward", "upstream" or a literal host[:port], got %s`, quote(host))
	}
}

// maxAffinity bounds the headers that keep calls together: each costs each call a look-up.
const maxAffinity = 8

// paramPrefix begins the only headers of MCP that a server gives meaning to (2026-07-28, "Custom
// Headers from Tool Parameters").
const paramPrefix = "Mcp-Param-"

func (v *validator) affinity(key string, rules []string) {
	if len(rules) > maxAffinity {
		v.fault(key, "must name at most %d headers", maxAffinity)
		return
	}
	var headers []string
	for i, rule := range rules {
		header := affinityHeader(rule)
		if v.keepingHeader(elementKey(key, i), rule, `"header:NAME"`) && slices.Contains(headers, header) {
			v.fault(elementKey(key, i), "names %s a second time", quote(header))
		}
		headers = append(headers, header)
	}
}

// keepingHeader judges a rule that names a header by whose value calls are kept together.
func (v *validator) keepingHeader(key, rule, wanted string) (ok bool) {
	header := affinityHeader(rule)
	parameter, mirrors := strings.CutPrefix(header, paramPrefix)
	switch {
	case header == "":
		v.fault(key, "must be %s, got %s", wanted, quote(rule))
	case mirrors && parameter == "", !mirrors && isReserved(header):
		v.fault(key, "must not be %s, which has a meaning of its own", quote(header))
	default:
		return true
	}
	return false
}

func (v *validator) authorization(key string, p Pool) {
	inline, file := p.AuthorizationValue != "", p.AuthorizationValueFile != ""
	switch {
	case p.Authorization != AuthorizationReplace && (inline || file):
		v.fault(key+".authorization", `must be "replace" for authorization_value to count`)
	case p.Authorization != AuthorizationReplace:
	case inline == file:
		v.fault(key+".authorization_value", "or authorization_value_file must be set, and not both")
	case inline && !ValidAuthorization(string(p.AuthorizationValue)):
		v.fault(key+".authorization_value", `must be what stands in the header, such as "Bearer …": at most %d bytes of visible ASCII`, maxAuthorization)
	}
}

func (v *validator) origins(key string, origins []string) {
	for i, origin := range origins {
		u, err := url.Parse(origin)
		switch {
		case origin == anyOrigin && len(origins) == 1:
		case origin == anyOrigin:
			v.fault(elementKey(key, i), `"*" stands alone`)
		case err != nil || u.Scheme == "" || !isHost(u.Hostname()) || !validPort(u) || !strings.EqualFold(origin, u.Scheme+"://"+u.Host):
			v.fault(elementKey(key, i), `must be scheme://host[:port], such as "https://app.example.com", without a path`)
		}
	}
}

func (v *validator) upstreams(key string, upstreams []Upstream) {
	names, urls := map[string]string{}, map[string]string{}
	for i, u := range upstreams {
		table := elementKey(key, i)
		v.bounds(table, reflect.ValueOf(u))
		v.process(table, u)
		if len(u.Command) == 0 {
			v.upstreamURL(table+".url", u)
		}
		if u.Era != "" {
			v.oneOf(table+".era", u.Era, EraAuto, EraModern, EraLegacy)
		}
		if u.Name != "" {
			v.name(table+".name", u.Name)
		}
		for _, name := range u.Names() {
			v.unique(names, name, table+".name", "is the name of %s already")
		}
		// One instance under two names would be counted, ejected and drained as two.
		if u.URL != "" {
			v.unique(urls, spotOf(u.URL), table+".url", "is the URL of %s already: one instance has one name")
		}
	}
}

// upstreamURL judges a URL whose scheme may say that the server speaks HTTP with SSE.
func (v *validator) upstreamURL(key string, u Upstream) {
	plain, old := strings.CutPrefix(u.URL, "sse+")
	v.url(key, plain)
	v.faultIf(old && u.Era == EraModern, strings.TrimSuffix(key, "url")+"era", "must be auto or legacy: HTTP with SSE is of the legacy era")
}

// spotOf is discover.Spot of a URL that may be none.
func spotOf(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	return discover.Spot(u)
}
