package client

import (
	"crypto/tls"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/idna"
)

// origin is who connections are to.
type origin struct{ scheme, host string }

// address is the host and port to connect to, and their host.
func (o origin) address() (address, name string, err error) {
	u := url.URL{Host: o.host}
	port := u.Port()
	if port == "" {
		if port = "80"; o.secure() {
			port = "443"
		}
	}
	if name, err = toASCII(u.Hostname()); err != nil {
		return "", "", err
	}
	return net.JoinHostPort(name, port), name, nil
}

func (o origin) secure() bool { return strings.EqualFold(o.scheme, "https") }

// toASCII is a host's name as it is looked up and written.
func toASCII(name string) (string, error) {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return idna.Lookup.ToASCII(name)
		}
	}
	return name, nil
}

// host is an upstream's connections.
type host struct {
	client  *Client
	address string
	config  func() *tls.Config // nil: connections are plain

	mu       sync.Mutex // guards the fields below
	idle     []*conn    // the one that has rested longest first
	expiry   *time.Timer
	expiring bool // the timer runs
	dialling int
	lent     int // connections that are in no list here
	line     []chan *conn
	gone     bool // it is in no map any more
}

// host returns the upstream of a URL.
func (c *Client) host(u *url.URL) (*host, error) {
	key := origin{u.Scheme, u.Host}
	if h := (*c.hosts.Load())[key]; h != nil {
		return h, nil
	}
	return c.addHost(key)
}

// addHost also forgets the upstreams to which there are no connections.
func (c *Client) addHost(key origin) (*host, error) {
	address, name, err := key.address()
	if err != nil {
		return nil, err
	}
	if key.scheme != "http" && key.scheme != "https" {
		return nil, unfit("scheme", key.scheme)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := *c.hosts.Load()
	if h := before[key]; h != nil {
		return h, nil
	}
	h := &host{client: c, address: address}
	if key.secure() {
		h.config = c.tlsFor(address, name)
	}
	hosts := map[origin]*host{key: h}
	for key, other := range before {
		if !other.retire() {
			hosts[key] = other
		}
	}
	c.hosts.Store(&hosts)
	return h, nil
}

func (c *Client) tlsFor(address, name string) func() *tls.Config {
	return func() *tls.Config {
		if c.options.TLS != nil {
			return c.options.TLS(address)
		}
		return &tls.Config{ServerName: name}
	}
}

// retire reports whether there are no connections, and has nobody begin with one then.
func (h *host) retire() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = len(h.idle)+h.dialling+h.lent+len(h.line) == 0
	return h.gone
}
