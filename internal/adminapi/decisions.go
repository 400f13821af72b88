package adminapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/seal"
	"berth/proxy"
	"berth/proxy/audit"
	"berth/routing"
)

const decisionsTold = 100 // unless another number is asked for

// explanations tell why requests go where they go.
type explanations struct {
	decisions *audit.Decisions
	proxy     func() *proxy.Proxy
	pools     func() []*routing.Pool
	outages   outages
}

func (e *explanations) routes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/decisions", Query: []string{"id", "pool", "outcome", "limit"}, Serve: e.serveDecisions},
		{Pattern: "GET /v1/explain", Query: []string{"id", "pool", "caller"}, Serve: e.serveExplainID},
		{Pattern: "POST /v1/explain", Asks: true, Serve: e.serveExplain},
	}
}

func (e *explanations) serveDecisions(_ context.Context, r *http.Request) (any, error) {
	most, err := number(r, "limit", decisionsTold, audit.DecisionsKept)
	if err != nil {
		return nil, err
	}
	query := r.URL.Query()
	id, pool, outcome := query.Get("id"), query.Get("pool"), query.Get("outcome")
	if outcome != "" && !slices.Contains(audit.Outcomes, outcome) {
		return nil, badRequest("no request ends as " + strconv.Quote(outcome) + "; outcomes are " + strings.Join(audit.Outcomes, ", "))
	}
	session := seal.Digest(id)
	told := e.decisions.Last(most, func(d *api.Decision) bool {
		return (id == "" || id == d.ID || id == d.Session || session == d.Session) &&
			is(pool, d.Pool) && is(outcome, d.Outcome)
	})
	if len(told) == 0 {
		err = checkNamed[api.Decision](e.pools(), place{pool: pool}, nil, nil)
	}
	return api.Decisions{Decisions: told}, err
}
