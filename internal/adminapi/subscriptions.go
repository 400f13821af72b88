package adminapi

import (
	"context"
	"net/http"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/routing"
)

// subscriptions tell of streams that stand at this berth.
type subscriptions struct {
	standing func() []api.Subscription // nil: none are told of
	pools    func() []*routing.Pool
}

func (s *subscriptions) routes() []admin.Route {
	return []admin.Route{{Pattern: "GET /v1/subscriptions", Query: []string{"limit", "cursor", "pool", "caller", "kind"}, Serve: s.serveSubscriptions}}
}

func (s *subscriptions) serveSubscriptions(_ context.Context, r *http.Request) (any, error) {
	var all []api.Subscription
	if s.standing != nil {
		all = s.standing()
	}
	placedAt := func(s *api.Subscription) placed { return placed{s.Since, s.Pool, s.ID} }
	q := r.URL.Query()
	var matching []*api.Subscription
	for i := range all {
		if one := &all[i]; is(q.Get("pool"), one.Pool) && is(q.Get("caller"), one.Caller) && is(q.Get("kind"), one.Kind) {
			matching = append(matching, one)
		}
	}
	inOrder(matching, placedAt)
	told := api.Subscriptions{}
	var err error
	if told.Subscriptions, told.Page, err = pageOf(r, matching, placedAt); err == nil {
		err = checkNamed(s.pools(), place{pool: q.Get("pool")}, all, func(one api.Subscription) place { return place{pool: one.Pool} })
	}
	return told, err
}
