package adminapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/drain"
	"berth/internal/storage"
	"berth/routing"
)

const (
	itemsTold = 100 // of what is left at one upstream, unless another number is asked for
	itemsMost = 10_000
)

// upstreamRoutes tell what is left at upstreams, and set marks.
func (a *API) upstreamRoutes() []admin.Route {
	const one = api.UpstreamsPath + "/{pool}/{name}"
	return []admin.Route{
		{Pattern: "GET " + api.UpstreamsPath, Serve: a.serveUpstreams},
		{Pattern: "GET " + one, Serve: a.serveUpstream},
		{Pattern: "POST " + one + "/drain", Serve: a.serveDrain},
		{Pattern: "POST " + one + "/undrain", Serve: a.serveUndrain},
	}
}

func (a *API) serveUpstreams(ctx context.Context, _ *http.Request) (any, error) {
	all, err := a.o.Drains.All(ctx)
	told := api.Upstreams{Upstreams: []api.Upstream{}}
	for _, status := range all {
		told.Upstreams = append(told.Upstreams, api.Upstream{MayStop: status})
	}
	return told, drainFault(err)
}

func (a *API) serveUpstream(ctx context.Context, r *http.Request) (any, error) {
	most, err := number(r, "items", itemsTold, itemsMost)
	if err != nil {
		return nil, err
	}
	status, err := a.o.Drains.Of(ctx, r.PathValue("pool"), r.PathValue("name"), most)
	return api.Upstream{MayStop: status}, drainFault(err)
}

func (a *API) serveDrain(ctx context.Context, r *http.Request) (any, error) {
	var order api.DrainOrder
	if err := read(r, &order); err != nil {
		return nil, err
	}
	pool := r.PathValue("pool")
	if order.MoveSessions && a.has(pool) && !a.o.Reopens(pool) {
		return nil, &admin.Fault{Status: http.StatusConflict, Code: "sessions_stay", Message: "sessions of pool " + strconv.Quote(pool) + ` cannot be moved: set session_failover = "reinit" there`}
	}
	return a.mark(ctx, r, routing.Drain{Since: time.Now(), MoveSessions: order.MoveSessions})
}

func (a *API) serveUndrain(ctx context.Context, r *http.Request) (any, error) {
	return a.mark(ctx, r, routing.Drain{})
}

func (a *API) mark(ctx context.Context, r *http.Request, mark routing.Drain) (any, error) {
	pool, name := r.PathValue("pool"), r.PathValue("name")
	if _, err := a.o.Drains.Set(ctx, pool, name, mark); err != nil {
		return nil, drainFault(err)
	}
	status, err := a.o.Drains.Of(ctx, pool, name, 0)
	if errors.Is(err, drain.ErrUnknown) { // a mark was taken off one that is gone
		return api.Upstream{MayStop: api.MayStop{Pool: pool, Name: name}}, nil
	}
	return api.Upstream{MayStop: status}, drainFault(err)
}

func (a *API) has(pool string) bool {
	return slices.ContainsFunc(a.o.Pools(), func(p *routing.Pool) bool { return p.Name() == pool })
}

// drainFault is what an operator is told; nil for nil.
func drainFault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, drain.ErrUnknown):
		return admin.NotFound(err.Error())
	case errors.Is(err, storage.ErrUnavailable):
		return &admin.Fault{Status: http.StatusServiceUnavailable, Code: "store_unavailable", Message: err.Error()}
	}
	return err
}
