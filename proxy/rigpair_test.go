package proxy_test

import (
	"maps"
	"net/url"

	"berth/routing"
)

// second returns another berth before the first o.size instances of f, with a network
// of its own that leads to the same places. It shares f's store if o says so.
func (f *rig) second(o rigOptions) *rig {
	f.t.Helper()
	g := &rig{t: f.t, tcp: f.tcp, servers: f.servers[:o.size], network: &rigNetwork{memory: maps.Clone(f.network.memory)}}
	var upstreams []*routing.Upstream
	for _, s := range g.servers {
		upstreams = append(upstreams, &routing.Upstream{Name: s.Name, URL: &url.URL{Scheme: "http", Host: s.addr, Path: "/mcp"}})
	}
	g.assemble(o, upstreams)
	return g
}
