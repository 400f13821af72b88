package adminapi

import (
	"context"
	"net/http"
	"strconv"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/trouble"
)

// troubleRoutes tell of the last events of each of the five numbers, at this berth.
func (a *API) troubleRoutes() []admin.Route {
	return []admin.Route{{Pattern: "GET /v1/troubles/{kind}", Serve: a.serveTroubles}}
}

func (a *API) serveTroubles(_ context.Context, r *http.Request) (any, error) {
	kind, ok := trouble.Named(r.PathValue("kind"))
	if !ok {
		return nil, admin.NotFound("there is no kind of trouble " + strconv.Quote(r.PathValue("kind")))
	}
	told := api.Events{Events: []api.Event{}}
	for _, e := range a.o.Troubles.Events(kind) {
		told.Events = append(told.Events, api.Event{At: e.At.UTC(), Pool: e.Pool, ID: e.ID, What: e.What, Caller: e.Caller, Detail: e.Detail})
	}
	return told, nil
}
