package config

import (
	"net/url"
	"path"
	"strings"
	"time"
)

// maxName bounds the names of pools and upstreams, which are metric labels and
// parts of keys in the store; in bytes.
const maxName = 128

func (v *validator) pools(pools []Pool) {
	if len(pools) == 0 {
		v.fault("pools", "there must be at least one")
	}
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

// places returns what must not be claimed twice: each host with the path, or the
// path alone where any host will do.
func (p *Pool) places() []string {
	if len(p.Hosts) == 0 {
		return []string{p.Path}
	}
	places := make([]string, len(p.Hosts))
	for i, host := range p.Hosts {
		places[i] = strings.ToLower(host) + " " + p.Path
	}
	return places
}

// unique reports the second use of a value, naming the first one's table.
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
	v.name(key+".name", p.Name)
	v.path(key+".path", p.Path)
	for i, host := range p.Hosts {
		if !isHost(host) {
			v.fault(elementKey(key+".hosts", i), "must be a host name or an IP address, without port or scheme, got %s", quote(host))
		}
	}
	v.oneOf(key+".picker", p.Picker, PickerP2C, PickerRoundRobin)
	v.affinity(key+".affinity", p.Affinity)
	v.hostHeader(key+".host", p.Host)
	v.authorization(key, p)
	v.origins(key+".origins", p.Origins)
	v.oneOf(key+".headers", p.Headers, HeadersStrict, HeadersLenient)
	within(v, key+".owner_grace", p.OwnerGrace, shortest, day)
	v.oneOf(key+".session_failover", p.SessionFailover, SessionNotFound, SessionReinit)
	within(v, key+".coalesce", p.Coalesce, 0, 5*Duration(time.Second))
	within(v, key+".sse_keepalive", p.SSEKeepalive, shortest, hour)
	v.timeouts(key+".timeouts", p.Timeouts)
	v.ejection(key+".ejection", p.Ejection)
	v.upstreams(key+".upstreams", p.Upstreams)
}

func (v *validator) name(key, name string) {
	visible := !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
	if name == "" || len(name) > maxName || !visible {
		v.fault(key, "must be 1 to %d visible ASCII characters without blanks, got %s", maxName, quote(name))
	}
}

func (v *validator) path(key, p string) {
	clean := path.Clean("/" + p)
	switch {
	case !strings.HasPrefix(p, "/"):
		v.fault(key, `must begin with "/", got %s`, quote(p))
	case strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`?#%\{}`, r) }):
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

func (v *validator) origins(key string, origins []string) {
	if len(origins) == 1 && origins[0] == AnyOrigin {
		return
	}
	for i, origin := range origins {
		v.origin(elementKey(key, i), origin)
	}
}

func (v *validator) origin(key, origin string) {
	if origin == AnyOrigin {
		v.fault(key, `"*" stands alone`)
		return
	}
	u, err := url.Parse(origin)
	if err != nil || u.Scheme == "" || !isHost(u.Hostname()) || !validPort(u) || !strings.EqualFold(origin, u.Scheme+"://"+u.Host) {
		v.fault(key, `must be scheme://host[:port], such as "https://app.example.com", without a path`)
	}
}

func (v *validator) timeouts(key string, t Timeouts) {
	within(v, key+".connect", t.Connect, shortest, hour)
	within(v, key+".read", t.Read, shortest, hour)
	within(v, key+".control", t.Control, shortest, hour)
	within(v, key+".call", t.Call, 0, year)
	within(v, key+".quiet", t.Quiet, 0, hour)
	within(v, key+".linger", t.Linger, shortest, day)
}

func (v *validator) upstreams(key string, upstreams []Upstream) {
	if len(upstreams) == 0 {
		v.fault(key, "there must be at least one")
	}
	names, urls := map[string]string{}, map[string]string{}
	for i, u := range upstreams {
		table := elementKey(key, i)
		v.url(table+".url", u.URL)
		if u.Name != "" {
			v.name(table+".name", u.Name)
		}
		v.unique(names, u.EffectiveName(), table+".name", "is the name of %s already")
		// One instance under two names would be given its own tasks' polls by either, and
		// counted, ejected and drained as two.
		v.unique(urls, sameURL(u.URL), table+".url", "is the URL of %s already: one instance has one name")
	}
}

// sameURL returns what two spellings of one URL have in common: host and scheme in lower
// case, the scheme's own port left out, and at least a slash for a path.
func sameURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return s
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if port := u.Port(); port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
