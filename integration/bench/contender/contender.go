//go:build linux

package contender

import (
	"os/exec"

	"berth/integration/bench/upstream"
)

// What can stand between client and upstreams. Direct is nothing at all.
const (
	Direct       = "direct"
	ReverseProxy = "ReverseProxy"
	Nginx        = "nginx"
	HAProxy      = "HAProxy"
	Berth        = "berth"
)

// Contender is one of those that are compared.
type Contender struct {
	Product string // one of the constants above
	Store   string // of berth: "" memory, or "file" or "redis"
	Upgrade bool   // of berth: calls of upstream.Report become tasks
	Quiet   bool   // it writes no access log
	Watched bool   // of berth: an operator's page asks it for its tasks
}

// Name is what the contender is called in the report.
func (c Contender) Name() string {
	name := c.Product
	if c.Store != "" {
		name += ", " + c.Store
	}
	if c.Quiet {
		name += ", no log"
	}
	if c.Watched {
		name += ", watched"
	}
	return name
}

// Programs are the paths of what is started; "" is missing.
type Programs struct {
	Berth, ReverseProxy, Nginx, HAProxy, Redis string
}

// Has reports whether the contender's program is there.
func (p Programs) Has(c Contender) bool {
	switch {
	case c.Product == Nginx:
		return p.Nginx != ""
	case c.Product == HAProxy:
		return p.HAProxy != ""
	case c.Store == "redis":
		return p.Redis != ""
	}
	return true
}

// Site is where a contender runs.
type Site struct {
	Programs  Programs
	Dir       string // for what it writes
	Core      int    // of the proxy
	Upstreams []*upstream.Instance
}

// commandFor makes the command that has c listen on address, and names the socket in the site's directory where its
// allocations can be asked for, if it tells them.
func (c Contender) commandFor(s Site, address, redis string) (command *exec.Cmd, metrics string, err error) {
	switch c.Product {
	case Nginx:
		command, err = c.nginx(s, address)
		return command, "", err
	case HAProxy:
		command, err = c.haproxy(s, address)
		return command, "", err
	case ReverseProxy:
		return c.reverseProxy(s, address), metricsSocket, nil
	default:
		command, err = c.berth(s, address, redis)
		return command, metricsSocket, err
	}
}
