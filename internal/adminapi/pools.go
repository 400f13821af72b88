package adminapi

import (
	"context"
	"net/http"
	"strconv"

	"berth/internal/admin"
	"berth/internal/api"
)

// poolRoutes tell of pools, with their upstreams.
func (a *API) poolRoutes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/pools", Serve: a.servePools},
		{Pattern: "GET /v1/pools/{pool}", Serve: a.servePool},
	}
}

func (a *API) servePools(ctx context.Context, _ *http.Request) (any, error) {
	v, err := a.look(ctx)
	return api.Pools{Pools: a.pools(v), Partial: v.partial}, err
}

func (a *API) servePool(ctx context.Context, r *http.Request) (any, error) {
	v, err := a.look(ctx)
	if err != nil {
		return nil, err
	}
	for _, pool := range a.pools(v) {
		if pool.Name == r.PathValue("pool") {
			return pool, nil
		}
	}
	return nil, admin.NotFound("there is no pool " + strconv.Quote(r.PathValue("pool")))
}

func (a *API) pools(v view) []api.Pool {
	all, pools := []api.Pool{}, a.o.Pools()
	for _, pool := range pools {
		face := a.o.Face(pool.Name())
		all = append(all, api.Pool{
			Name: pool.Name(), Path: face.Path, Picker: face.Picker, SessionFailover: face.SessionFailover, Discovery: face.Discovery,
			Waiting: pool.Waiting(), Upstreams: v.upstreams(pools, pool.Name()),
		})
	}
	return all
}
