package adminapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/drain"
	"berth/internal/storage"
	"berth/routing"
	"berth/routing/health"
)

const (
	itemsTold = 100 // of what is left at one upstream, unless another number is asked for
	itemsMost = 10_000
)

func (f *fleet) serveUpstreams(ctx context.Context, _ *http.Request) (any, error) {
	v, err := f.look(ctx)
	return api.Upstreams{Upstreams: v.upstreams(f.pools(), ""), Partial: v.partial}, err
}

func (f *fleet) serveUpstream(ctx context.Context, r *http.Request) (any, error) {
	most, err := number(r, "items", itemsTold, itemsMost)
	if err != nil {
		return nil, err
	}
	return f.tell(ctx, r.PathValue("pool"), r.PathValue("name"), most)
}

// tell tells of one upstream, and of at most so many things that it owns.
func (f *fleet) tell(ctx context.Context, pool, name string, most int) (api.Upstream, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, err := f.drains.Of(ctx, pool, name, most)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	if err != nil {
		return api.Upstream{}, f.drainFault(err, pool, name)
	}
	berths, err := f.board.All(ctx)
	for _, p := range f.pools() {
		if u := p.Find(name); p.Name() == pool && u != nil {
			told := upstream(p, u, status, seenBy(berths)[place{pool, name}])
			if err != nil {
				told.Partial = f.outages.partial(err)
			} else if told.Partial = f.outages.unwritten(); told.Partial != "" {
				told.Drained = false // by what is not known
			}
			return told, nil
		}
	}
	return api.Upstream{}, unknown(f.pools(), place{pool, name})
}

func (f *fleet) serveDrain(ctx context.Context, r *http.Request) (any, error) {
	var order api.DrainOrder
	if err := read(r, &order); err != nil {
		return nil, err
	}
	pool := r.PathValue("pool")
	if order.MoveSessions && f.has(pool) && !f.reopens(pool) {
		return nil, &admin.Fault{Status: http.StatusConflict, Code: "sessions_stay", Message: "sessions of pool " + strconv.Quote(pool) + ` cannot be moved: set session_failover = "reinit" there`}
	}
	return f.mark(ctx, r, routing.Drain{Since: time.Now(), MoveSessions: order.MoveSessions})
}

func (f *fleet) serveUndrain(ctx context.Context, r *http.Request) (any, error) {
	if err := read(r, &struct{}{}); err != nil {
		return nil, err
	}
	told, err := f.mark(ctx, r, routing.Drain{})
	if err == nil {
		err = stillDrains(&told.MayStop)
	}
	return told, err
}

// stillDrains says why an upstream drains whose mark was taken off; nil: it does not.
func stillDrains(u *api.MayStop) error {
	switch {
	case !u.Draining:
		return nil
	case u.By == "file":
		return &admin.Fault{Status: http.StatusConflict, Code: "drains_by_file", Message: fmt.Sprintf("%s/%s bears no mark, and drains all the same: "+
			"the file says drain = true, or it has left that, or its source, and drains until it owns nothing", u.Pool, u.Name)}
	}
	return &admin.Fault{Status: http.StatusConflict, Code: "drained_again", Message: fmt.Sprintf("%s/%s drains again: its mark was taken off, and another order has set one since", u.Pool, u.Name)}
}

// orderEvery is how often an order is given to a store that does not take it, within api.OrderTime.
const orderEvery = 250 * time.Millisecond

// mark sets an upstream's mark, and tells how it is then.
func (f *fleet) mark(ctx context.Context, r *http.Request, mark routing.Drain) (api.Upstream, error) {
	pool, name := r.PathValue("pool"), r.PathValue("name")
	told, err := f.markOnce(ctx, pool, name, mark)
	for late := time.Now().Add(api.OrderTime); says(err, http.StatusServiceUnavailable) && time.Now().Before(late); {
		select {
		case <-ctx.Done():
			return told, err
		case <-time.After(orderEvery):
		}
		told, err = f.markOnce(ctx, pool, name, mark)
		if !mark.Set() && says(err, http.StatusNotFound) { // the mark of one that is gone was taken off before, and the store could not say so
			return gone(pool, name), nil
		}
	}
	return told, err
}

func (f *fleet) markOnce(ctx context.Context, pool, name string, mark routing.Drain) (api.Upstream, error) {
	if _, err := f.drains.Set(ctx, pool, name, mark); err != nil {
		return api.Upstream{}, f.drainFault(err, pool, name)
	}
	told, err := f.tell(ctx, pool, name, 0)
	if says(err, http.StatusNotFound) { // a mark was taken off one that is gone
		return gone(pool, name), nil
	}
	return told, err
}

// says reports whether err is a fault of that status.
func says(err error, status int) bool {
	fault, is := errors.AsType[*admin.Fault](err)
	return is && fault.Status == status
}

// gone is what is told of an upstream that no pool has any more.
func gone(pool, name string) api.Upstream {
	return api.Upstream{MayStop: api.MayStop{Pool: pool, Name: name}, State: health.StateSilent, Reason: "it is gone", SeenBy: []api.SeenBy{}, Transport: "http", Versions: []string{}}
}

func (f *fleet) has(pool string) bool {
	return slices.ContainsFunc(f.pools(), func(p *routing.Pool) bool { return p.Name() == pool })
}

// drainFault is what an operator is told of an error about an upstream.
func (f *fleet) drainFault(err error, pool, name string) error {
	if errors.Is(err, drain.ErrUnknown) {
		return unknown(f.pools(), place{pool, name})
	}
	return f.outages.fault(err)
}
