package adminapi

import (
	"context"
	"net/http"

	"berth/internal/admin"
	"berth/internal/api"
)

// subscriptions tell of streams that stand at this berth.
type subscriptions struct {
	standing func() []api.Subscription // nil: none are told of
}

func (s *subscriptions) routes() []admin.Route {
	return []admin.Route{{Pattern: "GET /v1/subscriptions", Query: []string{"limit", "cursor", "pool", "caller", "kind"}, Serve: s.serveSubscriptions}}
}

func (s *subscriptions) serveSubscriptions(_ context.Context, r *http.Request) (any, error) {
	var all []api.Subscription
	if s.standing != nil {
		all = s.standing()
	}
	place := func(s *api.Subscription) placed { return placed{s.Since, s.Pool, s.ID} }
	q := r.URL.Query()
	var matching []*api.Subscription
	for i := range all {
		if one := &all[i]; is(q.Get("pool"), one.Pool) && is(q.Get("caller"), one.Caller) && is(q.Get("kind"), one.Kind) {
			matching = append(matching, one)
		}
	}
	inOrder(matching, place)
	told := api.Subscriptions{}
	var err error
	told.Subscriptions, told.Page, err = pageOf(r, matching, place)
	return told, err
}
