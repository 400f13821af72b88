package site

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"berth/internal/config"
	"berth/internal/mcp"
	"berth/proxy"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/routing/profile"
)

type meeting struct {
	key  string // of the pool
	pool config.Pool
	ep   *proxy.Endpoint
	host string // under which clients reach the pool; "": nobody can tell
}

// clientsHost is the Host header that clients of a pool send, as far as the configuration tells.
func clientsHost(listen string, pool config.Pool) string {
	if len(pool.Hosts) > 0 {
		return pool.Hosts[0]
	}
	host, _, err := net.SplitHostPort(listen)
	if ip, isIP := netip.ParseAddr(host); err != nil || host == "" || isIP == nil && ip.IsUnspecified() {
		return ""
	}
	return listen
}

func (m *meeting) looks() (looks []look) {
	for i, u := range m.ep.Router.Pool.Upstreams() {
		looks = append(looks, look{key: m.url(i), see: func(ctx context.Context) []Finding { return m.see(ctx, i, u) }})
	}
	return looks
}

// url is the key that says where an instance is: one table may make several.
func (m *meeting) url(i int) string {
	for n, table := range m.pool.Upstreams {
		if i -= len(table.Names()); i >= 0 {
			continue
		}
		if len(table.Command) > 0 {
			return fmt.Sprintf("%s.upstreams[%d].command", m.key, n)
		}
		return fmt.Sprintf("%s.upstreams[%d].url", m.key, n)
	}
	return m.key + ".upstreams"
}

// see meets one upstream. One that drains is on its way out, and may be gone.
func (m *meeting) see(ctx context.Context, i int, u *routing.Upstream) []Finding {
	err := outbound.To(m.ep).Meet(ctx, u, m.host)
	switch {
	case err == nil:
		return nil
	case m.pool.Authorization == config.AuthorizationForward && errors.Is(err, outbound.ErrCredentials):
		return nil // clients bring theirs
	case errors.Is(err, outbound.ErrHost):
		return []Finding{{Key: m.key + ".host", Text: told(u, fmt.Sprintf(`%s: set host = "upstream", or have the instance take the name`, worded(err))), Warning: u.Draining}}
	case errors.Is(err, outbound.ErrOldTransport):
		return []Finding{{Key: m.url(i), Text: told(u, fmt.Sprintf("%s: set url = %q, or give that of a Streamable HTTP endpoint", worded(err), "sse+"+u.URL.Redacted())), Warning: u.Draining}}
	}
	return []Finding{{Key: m.url(i), Text: told(u, worded(err)), Warning: u.Draining || errors.Is(err, outbound.ErrUnclear)}}
}

func told(u *routing.Upstream, text string) string {
	return fmt.Sprintf("%s (%s): %s", u.Name, u.URL.Redacted(), text)
}

func (m *meeting) mixed() (found []Finding) {
	var any [2]bool // by mcp.Era
	for _, u := range m.ep.Router.Pool.Upstreams() {
		for era, speaks := range u.Profile().Speaks {
			any[era] = any[era] || speaks
		}
	}
	for i, u := range m.ep.Router.Pool.Upstreams() {
		eras := u.Profile().Speaks
		bridged := !eras[mcp.EraModern] && u.Era != profile.SpokenModern
		if eras == [2]bool{} || eras == any || bridged {
			continue
		}
		own, other := "modern era only (2026-07-28)", "legacy one too (initialize)"
		if eras[mcp.EraLegacy] {
			own, other = "legacy era only (initialize)", "modern one too (2026-07-28)"
		}
		found = append(found, Finding{Key: m.url(i), Warning: true, Text: told(u, fmt.Sprintf(
			"it speaks the %s, others of the pool the %s, whose clients have fewer instances: have all of a pool speak the same eras", own, other))})
	}
	return found
}
