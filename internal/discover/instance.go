package discover

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Instance is one server instance, as a source tells of it.
type Instance struct {
	Name     string   // what it is bound by; unique in an answer
	URL      *url.URL // its MCP endpoint
	Draining bool     // it keeps what it owns and gets nothing new
	Left     bool     // neither source nor configuration tells of it any more, so that it drains
	Weight   int      // its share of new work; 0: the source does not say
	Backup   bool     // it gets new work only while no other can
	Era      string   // what it speaks, as the configuration writes it; "": the source does not say

	MaxInFlight int // of one that the configuration named: as routing.Upstream has it
}

func (i Instance) equal(other Instance) bool {
	a, b := i, other
	a.URL, b.URL = nil, nil
	return a == b && i.URL.String() == other.URL.String()
}

func byName(a, b Instance) int { return strings.Compare(a.Name, b.Name) }

func equal(a, b []Instance) bool { return slices.EqualFunc(a, b, Instance.equal) }

// URLTemplate is what all instances of a source share: where at its address the MCP endpoint is.
type URLTemplate struct {
	Scheme string // "http" or "https"
	Path   string // of the endpoint, as a URL has it
}

// At returns the endpoint at a host and port.
func (t URLTemplate) At(hostPort string) *url.URL {
	at := &url.URL{Scheme: t.Scheme, Host: hostPort, Path: t.Path}
	if path, err := url.ParseRequestURI(t.Path); err == nil {
		at.Path, at.RawPath = path.Path, path.RawPath
	}
	return at
}

// maxName is the longest name of an instance, in bytes: names are labels of metrics.
const maxName = 128

// checkName says what is wrong with a name. It stands in logs, metrics and the store.
func checkName(name string) error {
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("the name must be 1 to %d visible ASCII characters without blanks, got %.140q", maxName, name)
	}
	return nil
}

// checkURL says what is wrong with the URL of an instance.
func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("the URL must be http or https")
	case u.Hostname() == "" || !hasPort(u):
		return errors.New("the URL must have a host, and a port from 1 to 65535 if any")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("the URL must not contain a user, a query or a fragment")
	}
	return nil
}

// hasPort reports whether the port of u is one, or is left out.
func hasPort(u *url.URL) bool {
	parsed, err := url.Parse(u.String()) // what is joined to a URL was not read as one
	if err != nil || parsed.Host != u.Host {
		return false
	}
	n, err := strconv.ParseUint(parsed.Port(), 10, 16)
	return err == nil && n > 0 || parsed.Port() == "" && !strings.HasSuffix(u.Host, ":")
}

// Spot is where u leads, in one spelling: of addresses, of case, and of a port that is the scheme's own. The path is as it is written.
func Spot(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), cmp.Or(u.Port(), OwnPort(u.Scheme))
	if address, err := netip.ParseAddr(host); err == nil {
		host = address.String()
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port) + cmp.Or(u.EscapedPath(), "/")
}

// HostPort is the host and port of u, the port written out even where u leaves it out.
func HostPort(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), OwnPort(u.Scheme)))
}

// OwnPort is the port of a scheme, "" if it has none.
func OwnPort(scheme string) string {
	switch strings.TrimPrefix(scheme, "sse+") {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// lesser orders addresses, those of IPv4 first, for a choice that is the same everywhere.
func lesser(a, b netip.Addr) int { return a.Unmap().Compare(b.Unmap()) }
