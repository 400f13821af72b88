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
	"berth/internal/drain"
	"berth/routing"
	"berth/sticky"
)

// sessions tell of clients' sessions.
type sessions struct {
	pools    func() []*routing.Pool
	reopens  func(pool string) bool
	bindings *sticky.Bindings
	outages  outages

	snapshot snapshot[sessionList]
}

func newSessions(o *Options) *sessions {
	s := &sessions{pools: o.Pools, reopens: o.Reopens, bindings: o.Work.Bindings, outages: outages{o.Store}}
	s.snapshot.read = s.read
	return s
}

func (s *sessions) routes() []admin.Route {
	return []admin.Route{{Pattern: "GET /v1/sessions", Query: []string{"limit", "cursor", "pool", "upstream", "caller", "id"}, Serve: s.serveSessions}}
}

// sessionList is a snapshot of sessions.
type sessionList struct {
	all     []*api.Session // which do not change
	partial string
}

func (s *sessions) serveSessions(ctx context.Context, r *http.Request) (any, error) {
	seen := s.snapshot.get(ctx)
	if seen.value == nil {
		if err := s.outages.fault(seen.err); err != nil {
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
	if told.Partial = seen.missing(s.outages, seen.value.partial); told.Partial == "" {
		err = checkNamed(s.pools(), place{q.Get("pool"), q.Get("upstream")}, seen.value.all, func(one *api.Session) place { return place{one.Pool, one.Upstream} })
	}
	return told, err
}

func placeOfSession(s *api.Session) placed { return placed{s.Made, s.Pool, s.ID} }

// read reads what sessions upstreams own.
func (s *sessions) read(ctx context.Context, _ *sessionList, pause *pause, show func(*sessionList)) (*sessionList, error) {
	list := &sessionList{}
	for _, pool := range s.pools() {
		moves := s.reopens(pool.Name())
		for _, u := range pool.Upstreams() {
			read := 0
			all, err := s.bindings.EachLeft(ctx, sticky.Session, pool.Name(), u.Name, tasksMost, func(some []sticky.Left) error {
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
	b, item := l.Binding, drain.ItemOf(l, nil)
	told := &api.Session{
		ID: item.ID, Pool: pool, Upstream: b.Upstream, Caller: item.Caller, Version: b.Version, Made: item.Made, Expires: item.Expires,
		Movable: moves && time.Now().Before(b.Kept),
	}
	if formers := b.Formers(); len(formers) > 0 {
		told.Moved = formers[0].Upstream
	}
	return told
}
