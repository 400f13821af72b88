package api

import "berth/internal/drain"

// MayStop says whether an upstream may stop, and what is left there.
type MayStop = drain.Status

// DrainOrder is the body of POST /v1/upstreams/{pool}/{name}/drain; that of …/undrain is {}. Both answer
// with the upstream.
type DrainOrder struct {
	MoveSessions bool `json:"move_sessions"`
}

// UpstreamsPath is where upstreams are asked for.
const UpstreamsPath = "/v1/upstreams"

// Upstreams is the answer about all of them.
type Upstreams struct {
	Upstreams []Upstream `json:"upstreams"`
	Partial   string     `json:"partial,omitempty"` // as in Status
}
