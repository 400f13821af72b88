package adminapi

import (
	"context"
	"net/http"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/proxy/audit"
	"berth/proxy/inbound"
)

const decisionsTold = 100 // unless another number is asked for

// explainRoutes tell why requests go where they go.
func (a *API) explainRoutes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/decisions", Query: []string{"id", "pool", "outcome", "limit"}, Serve: a.serveDecisions},
		{Pattern: "GET /v1/explain", Query: []string{"id", "pool", "caller"}, Serve: a.serveExplainID},
		{Pattern: "POST /v1/explain", Serve: a.serveExplain},
	}
}

func (a *API) serveDecisions(_ context.Context, r *http.Request) (any, error) {
	most, err := number(r, "limit", decisionsTold, audit.DecisionsKept)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	id, pool, outcome := query.Get("id"), query.Get("pool"), query.Get("outcome")
	session := inbound.Digest(id)
	return api.Decisions{Decisions: a.o.Decisions.Last(most, func(d *api.Decision) bool {
		return (id == "" || id == d.ID || id == d.Session || session == d.Session) &&
			is(pool, d.Pool) && is(outcome, d.Outcome)
	})}, nil
}
