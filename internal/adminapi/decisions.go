package adminapi

import (
	"context"
	"net/http"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/seal"
	"berth/proxy"
	"berth/proxy/audit"
)

const decisionsTold = 100 // unless another number is asked for

// explanations tell why requests go where they go.
type explanations struct {
	decisions *audit.Decisions
	proxy     func() *proxy.Proxy
}

func (e *explanations) routes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/decisions", Query: []string{"id", "pool", "outcome", "limit"}, Serve: e.serveDecisions},
		{Pattern: "GET /v1/explain", Query: []string{"id", "pool", "caller"}, Serve: e.serveExplainID},
		{Pattern: "POST /v1/explain", Serve: e.serveExplain},
	}
}

func (e *explanations) serveDecisions(_ context.Context, r *http.Request) (any, error) {
	most, err := number(r, "limit", decisionsTold, audit.DecisionsKept)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	id, pool, outcome := query.Get("id"), query.Get("pool"), query.Get("outcome")
	session := seal.Digest(id)
	return api.Decisions{Decisions: e.decisions.Last(most, func(d *api.Decision) bool {
		return (id == "" || id == d.ID || id == d.Session || session == d.Session) &&
			is(pool, d.Pool) && is(outcome, d.Outcome)
	})}, nil
}
