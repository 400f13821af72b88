package adminapi

import (
	"context"
	"net/http"
	"strconv"

	"berth/internal/admin"
	"berth/internal/api"
)

func (f *fleet) servePools(ctx context.Context, _ *http.Request) (any, error) {
	v, err := f.look(ctx)
	return api.Pools{Pools: f.tellPools(v), Partial: v.partial}, err
}

func (f *fleet) servePool(ctx context.Context, r *http.Request) (any, error) {
	v, err := f.look(ctx)
	if err != nil {
		return nil, err
	}
	for _, pool := range f.tellPools(v) {
		if pool.Name == r.PathValue("pool") {
			return pool, nil
		}
	}
	return nil, admin.NotFound("there is no pool " + strconv.Quote(r.PathValue("pool")))
}

func (f *fleet) tellPools(v view) []api.Pool {
	all, pools := []api.Pool{}, f.pools()
	for _, pool := range pools {
		config := f.config(pool.Name())
		all = append(all, api.Pool{
			Name: pool.Name(), Path: config.Path, Picker: config.Picker, SessionFailover: config.SessionFailover, Discovery: config.Discovery,
			Waiting: pool.Waiting(), Upstreams: v.upstreams(pools, pool.Name()),
		})
	}
	return all
}
