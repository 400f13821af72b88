//go:build linux

package contender

import (
	"os/exec"
	"strings"

	"berth/integration/bench/upstream"
)

// What can stand between client and upstreams. Direct is nothing at all.
const (
	Direct       = "direct"
	ReverseProxy = "ReverseProxy"
	Passthrough  = "passthrough"
	Nginx        = "nginx"
	HAProxy      = "HAProxy"
	Berth        = "berth"
)

// Contender is one of those that are compared.
type Contender struct {
	Product string // one of the constants above
	TLS     bool   // clients speak TLS 1.3 to it
	Quiet   bool   // it writes no access log
	Cores   int    // that it shares with the load, in place of one of its own; 0: it has its own
	Counted bool   // it runs under Callgrind, which counts its instructions
	Caches  bool   // and what caches of a processor would not have; Counted is set, too

	// The rest is of berth alone.
	Store    string // "" memory, or "file" or "redis"
	Near     int    // bindings in its LRU; 0: the default
	NetHTTP  bool   // net/http carries HTTP/1.1
	Upgrade  bool   // calls of upstream.Report and upstream.Hold become tasks
	Bindings int    // tasks that it knows before anything is measured
	Watched  bool   // an operator's page asks it for its tasks
	Profiled bool   // it serves profiles of itself
}

// Name is what the contender is called in the report.
func (c Contender) Name() string {
	var name strings.Builder
	name.WriteString(c.Product)
	for _, trait := range []struct {
		has  bool
		name string
	}{
		{c.NetHTTP, "net/http"},
		{c.Upgrade, "upgraded"},
		{c.Store != "", c.Store},
		{c.TLS, "TLS"},
		{c.Quiet, "no log"},
		{c.Watched, "watched"},
		{c.Bindings > 0, count(c.Bindings, "task")},
		{c.Cores > 0, count(c.Cores, "core")},
	} {
		if trait.has {
			name.WriteString(", " + trait.name)
		}
	}
	return name.String()
}

// Programs are the paths of what is started; "" is missing.
type Programs struct {
	Berth, ReverseProxy, Passthrough, Nginx, HAProxy, Redis string
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
	Programs    Programs
	Dir         string // for what it writes
	Cores       []int  // that there are; the first is the proxy's, the others are the load's
	Certificate Certificate
	Upstreams   []*upstream.Instance
}

// cores are those that c runs on.
func (s Site) cores(c Contender) []int {
	return s.Cores[:max(1, c.Cores)]
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
		return s.plain(s.Programs.ReverseProxy, "http://", address), metricsSocket, nil
	case Passthrough:
		return s.plain(s.Programs.Passthrough, "", address), metricsSocket, nil
	default:
		command, err = c.berth(s, address, redis)
		return command, metricsSocket, err
	}
}
