package command

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"berth/internal/admin"
	"berth/internal/drain"
	"berth/internal/storage"
	"berth/routing"
	"berth/sticky"
)

// newDrains watches over what is left at the upstreams of the newest generation.
func (s *site) newDrains() *drain.Watch {
	return drain.New(drain.Options{
		Name: s.mailbox.Name(), Store: s.store, Bindings: s.bindings, IDs: s.ids, Pools: s.pools, Reinit: s.reopens, Logger: s.log, Meter: s.meter,
	})
}

// pools are those of the newest generation.
func (s *site) pools() []*routing.Pool {
	if g := s.now.Load(); g != nil {
		return g.pools()
	}
	return nil
}

func (g *generation) pools() (pools []*routing.Pool) {
	for _, ep := range g.faces {
		pools = append(pools, ep.Router.Pool)
	}
	return pools
}

// reopens reports whether sessions of a pool are opened anew where they have lost their upstream.
func (s *site) reopens(pool string) bool {
	for _, ep := range s.now.Load().faces {
		if ep.Router.Pool.Name() == pool {
			return ep.Reinit
		}
	}
	return false
}

// ownedBy is what an upstream owns, as far as the store has told.
func ownedBy(u *routing.Upstream) int {
	owned, known := u.Owned()
	if !known {
		return unknownOwned
	}
	return count(owned)
}

func count(owned sticky.Owned) int { return owned.Tasks + owned.Sessions }

// tasksAt is how many live tasks an upstream has, as the store told last.
func tasksAt(u *routing.Upstream) int {
	owned, _ := u.Owned()
	return owned.Tasks
}

const (
	upstreamsPath = "/v1/upstreams"
	drainPath     = "/drain"
	undrainPath   = "/undrain"

	itemsTold = 100 // of what is left at one upstream, unless another number is asked for
	itemsMost = 10_000
)

// drainOrder is the body of an order to drain.
type drainOrder struct {
	MoveSessions bool `json:"move_sessions"`
}

// drainRoutes tell what is left at upstreams, and set marks.
func (s *site) drainRoutes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET " + upstreamsPath, Serve: s.serveUpstreams},
		{Pattern: "GET " + upstreamsPath + "/{pool}/{name}", Serve: s.serveUpstream},
		{Pattern: "POST " + upstreamsPath + "/{pool}/{name}" + drainPath, Serve: s.serveDrain},
		{Pattern: "POST " + upstreamsPath + "/{pool}/{name}" + undrainPath, Serve: s.serveUndrain},
	}
}

// upstreams is the answer about all of them.
type upstreams struct {
	Upstreams []drain.Status `json:"upstreams"`
}

func (s *site) serveUpstreams(ctx context.Context, _ *http.Request) (any, error) {
	all, err := s.drains.All(ctx)
	return upstreams{all}, drainFault(err)
}

func (s *site) serveUpstream(ctx context.Context, r *http.Request) (any, error) {
	most := itemsTold
	if text := r.URL.Query().Get("items"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > itemsMost {
			return nil, &admin.Fault{Status: http.StatusBadRequest, Code: "bad_request", Message: "items must be a number from 0 to " + strconv.Itoa(itemsMost)}
		}
		most = n
	}
	status, err := s.drains.Of(ctx, r.PathValue("pool"), r.PathValue("name"), most)
	return status, drainFault(err)
}

func (s *site) serveDrain(ctx context.Context, r *http.Request) (any, error) {
	var order drainOrder
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
		return nil, &admin.Fault{Status: http.StatusBadRequest, Code: "bad_request", Message: "the body is no JSON object: " + err.Error()}
	}
	pool := r.PathValue("pool")
	if order.MoveSessions && s.endpointOf(pool) != nil && !s.reopens(pool) {
		return nil, &admin.Fault{Status: http.StatusConflict, Code: "sessions_stay", Message: "sessions of pool " + strconv.Quote(pool) + ` cannot be moved: set session_failover = "reinit" there`}
	}
	return s.mark(ctx, r, routing.Drain{Since: time.Now(), MoveSessions: order.MoveSessions})
}

func (s *site) serveUndrain(ctx context.Context, r *http.Request) (any, error) {
	return s.mark(ctx, r, routing.Drain{})
}

func (s *site) mark(ctx context.Context, r *http.Request, mark routing.Drain) (any, error) {
	pool, name := r.PathValue("pool"), r.PathValue("name")
	if _, err := s.drains.Set(ctx, pool, name, mark); err != nil {
		return nil, drainFault(err)
	}
	status, err := s.drains.Of(ctx, pool, name, 0)
	if errors.Is(err, drain.ErrUnknown) { // a mark was taken off one that is gone
		return drain.Status{Pool: pool, Name: name}, nil
	}
	return status, drainFault(err)
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
