package adminapi

import (
	"context"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/bulletin"
	"berth/internal/drain"
	"berth/internal/storage"
	"berth/routing"
)

// fleet tells of berths, pools and upstreams, of what is left at these, and sets marks.
type fleet struct {
	pools   func() []*routing.Pool
	config  func(pool string) PoolConfig
	drains  *drain.Watch
	reopens func(pool string) bool
	board   *bulletin.Board
	store   *storage.Store
	ready   func() (ready bool, why []string)
	count   func(ctx context.Context) (tally api.Tally, missing string) // of tasks; nil: this berth tells of none
	paused  func(ctx context.Context) ([]api.PausedQueue, error)        // nil: likewise
	outages outages
}

func newFleet(o *Options) *fleet {
	return &fleet{
		pools: o.Pools, config: o.PoolConfig, drains: o.Drains, reopens: o.Reopens, board: o.Board, store: o.Store, ready: o.Ready,
		outages: outages{o.Store},
	}
}

func (f *fleet) routes() []admin.Route {
	const upstream = api.UpstreamsPath + "/{pool}/{name}"
	return []admin.Route{
		{Pattern: "GET /v1/status", Serve: f.serveStatus},
		{Pattern: "GET /v1/berths", Serve: f.serveBerths},
		{Pattern: "GET /v1/pools", Serve: f.servePools},
		{Pattern: "GET /v1/pools/{pool}", Serve: f.servePool},
		{Pattern: "GET " + api.UpstreamsPath, Serve: f.serveUpstreams},
		{Pattern: "GET " + upstream, Query: []string{"items"}, Serve: f.serveUpstream},
		{Pattern: "POST " + upstream + "/drain", Serve: f.serveDrain},
		{Pattern: "POST " + upstream + "/undrain", Serve: f.serveUndrain},
	}
}
