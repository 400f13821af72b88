package api

import (
	"time"

	"berth/internal/drain"
)

// MayStop says whether an upstream may stop, and what is left there.
type MayStop = drain.Status

// DrainOrder is the body of POST /v1/upstreams/{pool}/{name}/drain; that of …/undrain is {}. Both answer
// with the upstream.
type DrainOrder struct {
	MoveSessions bool `json:"move_sessions"`
}

// UpstreamsPath is where upstreams are asked for.
const UpstreamsPath = "/v1/upstreams"

// OrderTime is for how long berth gives an order to drain, or to drain no more, again to a store that does not take it: a deploy would end for
// want of one answer in time. Who orders waits for the answer longer than that.
const OrderTime = 3 * time.Second

// Upstreams is the answer about all of them.
type Upstreams struct {
	Upstreams []Upstream `json:"upstreams"`
	Partial   string     `json:"partial,omitempty"` // as in Status
}
