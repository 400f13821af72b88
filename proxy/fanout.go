package proxy

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
	"berth/sticky"
)

// sourceFanout marks access records of requests that have no single owner.
const sourceFanout sticky.Source = "fanout"

// Bounds of a list of tasks that berth makes of its upstreams' own.
const (
	listsAtOnce  = 8                // in this process; others wait
	listPatience = 2 * time.Second  // for how long they do
	asksAtOnce   = 16               // upstreams that one list asks at a time
	listBytes    = 4 << 20          // of one upstream's page, and of the page for the client
	listRounds   = 8                // how often one request asks on while nothing was there for the caller
	cursorLife   = 30 * time.Minute // how long a list may pause between two pages
)

// listing is a request for a list of tasks that berth makes of its upstreams' own: of
// all of the pool's, or of a session's owner, of whose list the caller may see a part; and
// of the tasks of berth's own making that are the caller's.
type listing struct {
	x      *request
	about  []string // what its cursors are good for
	places []place  // where the list goes on, in the pool's order
	page   mcp.TaskList
	kept   atomic.Int64        // bytes of the upstreams' pages that this round holds
	listed map[string]struct{} // ids on the page

	mu    sync.Mutex  // guards the fields below
	ruled bool        // an upstream has answered
	rule  wire.Header // which pages may read the list: those that all upstreams let
}

// mayNotList reports whether the request asks for a list that there is none of: the
// modern era has none, and neither has the revision that has batches. Without
// principals it is the upstream that says so; with them its answer may be a list of
// everybody's tasks, and in a batch without a session it would be one upstream's.
func (x *request) mayNotList() bool {
	if !x.AnyRequest(isListOfTasks) {
		return false
	}
	principals := x.Endpoint.Router.Principals
	return principals && x.Era() == mcp.EraModern || x.Message.Batch && (principals || x.Session == "")
}

// makesList reports whether the request asks for a list that berth has to make. In a
// session without principals its owner's list is the answer.
func (x *request) makesList() bool {
	c := x.Single()
	return c != nil && c.Kind == mcp.KindRequest && isListOfTasks(c.Method) && c.Era == mcp.EraLegacy &&
		(x.Session == "" || x.Endpoint.Router.Principals)
}

func isListOfTasks(method string) bool { return method == mcp.MethodListTasks }

// listTasks answers with one page of the list. It is whole or it is an error: an
// upstream that does not answer is not left out.
func (x *request) listTasks() error {
	done, err := x.p.listTurn(x.ctx)
	if err != nil {
		return err
	}
	defer done()
	l, err := x.newListing()
	if err != nil {
		return err
	}
	for range listRounds {
		if err := l.round(); err != nil {
			return x.passRefusal(err)
		}
		if len(l.page.Tasks) > 0 || len(l.places) == 0 {
			break
		}
	}
	if l.page.NextCursor, err = l.cursor(); err != nil {
		return err
	}
	if l.ruled {
		x.out.ReadBy(l.rule)
	}
	x.out.Respond(wire.StatusOK, mcp.Response(x.ID, l.page.Result()))
	return nil
}

// listTurn waits for a turn to make a list, for a short while: each costs a request to
// every upstream.
func (p *Proxy) listTurn(ctx context.Context) (done func(), err error) {
	timer := time.NewTimer(listPatience)
	defer timer.Stop()
	select {
	case p.lists <- struct{}{}:
		return func() { <-p.lists }, nil
	case <-timer.C:
		p.gate.Note(fault.ListsBusy)
		return nil, fault.ListsBusy
	case <-ctx.Done():
		return nil, fault.ErrClientGone
	}
}

// newListing returns the list where its cursor says that it goes on. A cursor is good
// for this caller and session, and for the very upstreams that it was given out over:
// where one has come or gone since, only a list from the beginning is whole.
func (x *request) newListing() (*listing, error) {
	if err := x.Single().CheckCursor(); err != nil {
		return nil, err
	}
	l := &listing{x: x, about: []string{x.PoolName(), x.Principal, x.Session}, listed: map[string]struct{}{}}
	upstreams := x.Pool().Upstreams()
	switch owner := x.decision.Owner; {
	case x.addedTasks():
		upstreams, x.decision.Source = nil, routing.SourceUpgraded
	case owner != nil:
		upstreams, x.rec.Upstream = []*routing.Upstream{owner}, owner.Name
	default:
		x.decision.Source = sourceFanout
	}
	if x.listsOwn() {
		l.places = append(l.places, place{})
	}
	for _, u := range upstreams {
		l.places = append(l.places, place{Upstream: u.Name, upstream: u})
		l.about = append(l.about, u.Name)
	}
	slices.Sort(l.about[3:])
	if len(l.places) == 0 {
		return nil, routing.ErrNoUpstream
	}
	if x.Single().Cursor == "" {
		return l, nil
	}
	return l, l.resume(x.Single().Cursor)
}

// round asks each upstream that has more for its next page, and adds what is the
// caller's to the client's page.
func (l *listing) round() error {
	l.kept.Store(0)
	pages, err := l.ask()
	if err != nil {
		return err
	}
	var rest []place
	for i, p := range l.places {
		if p.later {
			p.later = false
			rest = append(rest, p)
			continue
		}
		tasks, err := l.callers(p, pages[i].Tasks)
		if err != nil {
			return err
		}
		l.add(tasks)
		if p.Cursor = pages[i].NextCursor; p.Cursor != "" {
			rest = append(rest, p)
		}
	}
	l.places = rest
	return nil
}

// keeps reports whether a page may stay in memory beside those that came before it:
// all together make the client's page, and a pool may have any number of upstreams.
// The first one always may.
func (l *listing) keeps(page mcp.TaskList) bool {
	var size int64
	for _, t := range page.Tasks {
		size += int64(len(t.Raw))
	}
	if sum := l.kept.Add(size); sum == size || sum <= listBytes {
		return true
	}
	l.kept.Add(-size)
	return false
}

// add puts tasks on the page. Upstreams that share their tasks each list all of them: a
// task stands on a page once.
func (l *listing) add(tasks []mcp.ListedTask) {
	for _, t := range tasks {
		if _, twice := l.listed[t.ID]; !twice {
			l.listed[t.ID] = struct{}{}
			l.page.Tasks = append(l.page.Tasks, t)
		}
	}
}
