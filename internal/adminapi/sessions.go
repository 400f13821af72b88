package adminapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/sticky"
)

// sessionRoutes tell of clients' sessions.
func (a *API) sessionRoutes() []admin.Route {
	return []admin.Route{{Pattern: "GET /v1/sessions", Query: []string{"limit", "cursor", "pool", "upstream", "caller", "id"}, Serve: a.serveSessions}}
}

// sessionList is a snapshot of sessions.
type sessionList struct {
	all     []*api.Session // which do not change
	partial string
}

func (a *API) serveSessions(ctx context.Context, r *http.Request) (any, error) {
	seen := a.sessionSnapshot.get(ctx)
	if seen.value == nil {
		if err := a.fault(seen.err); err != nil {
			return nil, err
		}
		seen.value = &sessionList{}
	}
	q := r.URL.Query()
	var matching []*api.Session
	for _, one := range seen.value.all {
		if is(q.Get("pool"), one.Pool) && is(q.Get("upstream"), one.Upstream) && is(q.Get("caller"), one.Caller) && is(q.Get("id"), one.ID) {
			matching = append(matching, one)
		}
	}
	var err error
	told := api.Sessions{AsOf: seen.asOf.UTC()}
	if told.Sessions, told.Page, err = pageOf(r, matching, placeOfSession); err != nil {
		return nil, err
	}
	told.Partial = seen.missing(a, seen.value.partial)
	return told, nil
}

func placeOfSession(s *api.Session) placed { return placed{s.Made, s.Pool, s.ID} }

// readSessions reads what sessions upstreams own.
func (a *API) readSessions(ctx context.Context, _ *sessionList, pause *pause, show func(*sessionList)) (*sessionList, error) {
	list := &sessionList{}
	for _, pool := range a.o.Pools() {
		moves := a.o.Reopens(pool.Name())
		for _, u := range pool.Upstreams() {
			read := 0
			all, err := a.o.Work.Bindings.EachLeft(ctx, sticky.Session, pool.Name(), u.Name, tasksMost, func(some []sticky.Left) error {
				for _, one := range some {
					list.all = append(list.all, sessionOf(pool.Name(), one, moves))
				}
				read += len(some)
				due, err := pause.take(ctx)
				if due {
					soFar := &sessionList{all: slices.Clone(list.all)}
					inOrder(soFar.all, placeOfSession)
					show(soFar)
				}
				return err
			})
			if err != nil {
				return nil, err
			}
			if all > read {
				list.partial = cmp.Or(list.partial, fmt.Sprintf("%d sessions of %s are not among them", all-read, u.Name))
			}
		}
	}
	inOrder(list.all, placeOfSession)
	return list, nil
}

// sessionOf is a session as its binding tells it. moves says that its pool has sessions move.
func sessionOf(pool string, l sticky.Left, moves bool) *api.Session {
	b := l.Binding
	s := &api.Session{
		ID: cmp.Or(b.Session, l.Name), Pool: pool, Upstream: b.Upstream, Caller: digestOf(b.Principal), Version: b.Version,
		Expires: l.Expires.UTC().Truncate(time.Second), Movable: moves && time.Now().Before(b.Kept), Moved: b.Former,
	}
	if b.Made > 0 {
		s.Made = time.UnixMilli(b.Made).UTC()
	}
	return s
}
