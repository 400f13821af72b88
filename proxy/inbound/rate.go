package inbound

import (
	"slices"

	"berth/internal/connlimit"
	"berth/internal/limit"
	"berth/internal/mcp"
	"berth/upgrade"
)

// RateRule bounds how often tools of an endpoint are called.
type RateRule struct {
	Limit *limit.Shared
	Tools []upgrade.Glob
	Per   Per
}

// Per is whose calls a rule counts together.
type Per string

// The subjects that calls are counted for.
const (
	PerPrincipal Per = "principal" // who calls: a principal or, of those who have none, an address
	PerAddress   Per = "address"   // the address that calls
	PerPool      Per = "pool"      // everybody at the endpoint's pool
)

// Charge is what a request costs by a rule.
type Charge struct {
	Rule  *RateRule
	Calls int
}

// charges are by which rules the calls of tools count. A request that none concerns costs nothing.
func (x Arrival) charges() (charges []Charge) {
	for i := range x.Endpoint.Rates {
		rule, n := &x.Endpoint.Rates[i], 0
		for j := range x.Message.Calls {
			if rule.concerns(&x.Message.Calls[j]) {
				n++
			}
		}
		if n > 0 {
			charges = append(charges, Charge{rule, n})
		}
	}
	return charges
}

func (r *RateRule) concerns(c *mcp.Call) bool {
	return c.Kind == mcp.KindRequest && c.Method == mcp.MethodCallTool &&
		slices.ContainsFunc(r.Tools, func(g upgrade.Glob) bool { return g.Match(c.Name) })
}

// Subject names for whom a rule counts the request.
func (x *Call) Subject(per Per) string {
	switch per {
	case PerAddress:
		if x.From.IsValid() {
			return "address " + connlimit.Address(x.From)
		}
		return "address"
	case PerPool:
		return "pool " + x.PoolName()
	}
	return x.Caller
}
