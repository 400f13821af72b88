//go:build linux

package main

import (
	"berth/integration/bench/contender"
	"berth/integration/bench/upstream"
)

// The contenders, by what is said of them in kinds. What stands first in a kind is measured first in each round.
var (
	direct       = contender.Contender{Product: contender.Direct}
	reverseProxy = contender.Contender{Product: contender.ReverseProxy}
	passthrough  = contender.Contender{Product: contender.Passthrough}
	nginx        = contender.Contender{Product: contender.Nginx}
	haproxy      = contender.Contender{Product: contender.HAProxy}
	berth        = contender.Contender{Product: contender.Berth}
	netHTTP      = contender.Contender{Product: contender.Berth, NetHTTP: true}
	onRedis      = contender.Contender{Product: contender.Berth, Store: "redis"}
	onFile       = contender.Contender{Product: contender.Berth, Store: "file"}
	missing      = contender.Contender{Product: contender.Berth, Store: "redis", Near: 1}
	watched      = contender.Contender{Product: contender.Berth, Watched: true}
	upgraded     = contender.Contender{Product: contender.Berth, Upgrade: true}
	upgradedOver = contender.Contender{Product: contender.Berth, Upgrade: true, Store: "redis"}
	few          = contender.Contender{Product: contender.Berth, Bindings: 10_000}
	many         = contender.Contender{Product: contender.Berth, Bindings: 1_000_000}
)

// often is the pace of polls and calls: five times the rate of other kinds, which some contenders cannot do.
const often = 5

// kinds are all of them.
func kinds() []kind {
	loops := fresh((*bench).measureLoops)
	among := &among{stays: make(map[contender.Contender]known)}
	return []kind{
		{name: "tasks/get", pace: often, prepare: polls, measure: loops, contenders: of(
			direct, reverseProxy, passthrough, nginx, haproxy, berth, netHTTP, onRedis, quiet(nginx), quiet(berth), watched)},
		{name: "tools/call", pace: often, prepare: calls(upstream.Echo), measure: loops, contenders: of(
			direct, reverseProxy, passthrough, nginx, haproxy, berth, netHTTP)},
		{name: "miss", unit: "a poll that misses the LRU", pace: 1, prepare: polls, measure: loops, contenders: of(nginx, missing)},
		{name: "creation", pace: 1, prepare: calls(upstream.Make), measure: loops, contenders: of(nginx, haproxy, berth, onFile, onRedis)},
		{name: "tools/list", pace: 1, prepare: repeat(listTools()), measure: loops, contenders: of(nginx, haproxy, berth)},
		{name: "tls", unit: "a poll", pace: 1, prepare: polls, measure: loops, contenders: of(tls(nginx), tls(haproxy), tls(berth), tls(netHTTP))},
		{name: "upgraded", unit: "a call, to its outcome", prepare: calls(upstream.Report), measure: fresh((*bench).measureUpgraded), contenders: of(berth, upgraded, upgradedOver)},
		{name: "events", unit: "an event", pace: 0.05, prepare: events, measure: loops, contenders: of(nginx, haproxy, berth, netHTTP)},
		{name: "cores", unit: "a poll, the load on the same cores", prepare: polls, measure: (*bench).measureCores, contenders: of(
			cores(direct, 1), cores(direct, 2), cores(passthrough, 1), cores(passthrough, 2), cores(berth, 1), cores(berth, 2))},
		{name: "held", measure: fresh((*bench).measureHeld), contenders: of(upgraded, upgradedOver)},
		{name: "streams", unit: "an event", pace: 3, measure: fresh((*bench).measureStreams), contenders: of(nginx, haproxy, berth, netHTTP)},
		{name: "million-polls", measure: among.measure, contenders: of(few, many)},
		{name: "million-creations", measure: among.measure, prepare: calls(upstream.Make), contenders: of(few, many)},
	}
}

func of(contenders ...contender.Contender) []contender.Contender { return contenders }

func quiet(c contender.Contender) contender.Contender {
	c.Quiet = true
	return c
}

func tls(c contender.Contender) contender.Contender {
	c.TLS = true
	return c
}

func cores(c contender.Contender, n int) contender.Contender {
	c.Cores = n
	return c
}
