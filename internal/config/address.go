package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// address judges a host:port to listen on. Port 0 is allowed: any free one.
func (v *validator) address(key, addr string) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		v.fault(key, `must be host:port, such as "127.0.0.1:8080", got %s`, quote(addr))
		return
	}
	v.faultIf(host != "" && !isHost(host), key, "must name an IP address or a host, got %s", quote(host))
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		v.fault(key, "must have a port from 0 to 65535, got %s", quote(port))
	}
}

// url judges an address to send to, of which user and password must not reach the screen.
func (v *validator) url(key, s string) {
	u, err := url.Parse(s)
	switch {
	case s == "":
		v.fault(key, "is missing")
	case err != nil:
		v.fault(key, "must be a URL, such as http://127.0.0.1:7101/mcp")
	case u.Scheme != "http" && u.Scheme != "https":
		v.fault(key, "must be http or https, got %s", quote(u.Scheme))
	case !isHost(u.Hostname()) || !validPort(u):
		v.fault(key, "must have a host, and a port from 1 to 65535 if any")
	case u.User != nil:
		v.fault(key, "must not contain a user or password")
	case u.RawQuery != "" || u.ForceQuery:
		v.fault(key, "must not contain a query")
	case u.Fragment != "" || strings.HasSuffix(s, "#"):
		v.fault(key, "must not contain a fragment")
	}
}

func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return !strings.HasSuffix(u.Host, ":")
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	const longest = 253
	if s == "" || len(s) > longest {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isBare(label) || len(label) > 63 || label[0] == '-' {
			return false
		}
	}
	return true
}

// isBare reports whether s is a bare key of TOML, or a label of a host's name; Compose puts
// underscores into them.
func isBare(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
	})
}

func isVisible(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// OnLoopback reports whether only this machine can connect, as far as can be told without resolving
// names.
func (c *Config) OnLoopback() bool { return onLoopback(c.Listen) }

func onLoopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	return err != nil || isLoopbackHost(host) // No address: reported already.
}

func isLoopbackHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
