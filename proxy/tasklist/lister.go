package tasklist

import (
	"context"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/routing/turns"
	"berth/sticky"
	"berth/upgrade"
)

// Bounds of a list.
const (
	listsAtOnce   = 8                // in this process; others wait, and callers take turns
	listsByCaller = 4                // of these
	turnPatience  = 2 * time.Second  // for how long they do
	asksAtOnce    = 16               // upstreams that one list asks at a time
	lookupsAtOnce = 16               // of one page
	pageBytes     = 4 << 20          // of one upstream's page, and of the page for the client
	rounds        = 8                // how often one request asks on while nothing was there for the caller
	cursorLife    = 30 * time.Minute // how long a list may pause between two pages
	ownPerPage    = 100              // tasks of berth's own making
)

// Lister makes lists.
type Lister struct {
	tasks *upgrade.Reader // of those of berth's own making; nil: there are none
	rules upgrade.Rules   // which tools' calls become such
	keys  *seal.Keyring   // seals cursors
	turns *turns.Turns    // for the lists that are being made
}

// New returns what makes lists, of berth's own tasks as well where tasks and rules say of some.
func New(tasks *upgrade.Reader, rules upgrade.Rules, keys *seal.Keyring) *Lister {
	return &Lister{tasks, rules, keys, turns.New(listsAtOnce, listsByCaller)}
}

// MayNot reports whether c asks for a list that there is none of: the modern era has none,
// and neither has the revision that has batches. Without principals it is the upstream that
// says so; with them its answer may be a list of everybody's tasks, and in a batch without a
// session it would be one upstream's.
func MayNot(c *inbound.Call) bool {
	if !c.AnyRequest(isList) {
		return false
	}
	principals := c.Endpoint.Router.Principals
	return principals && c.Era() == mcp.EraModern || c.Message.Batch && (principals || c.Session == "")
}

// IsWanted reports whether c asks for a list that berth has to make. In a session without
// principals its owner's list is the answer.
func IsWanted(x *inbound.Call) bool {
	c := x.Single()
	return c != nil && c.Kind == mcp.KindRequest && isList(c.Method) && c.Era == mcp.EraLegacy &&
		(x.Session == "" || x.Endpoint.Router.Principals)
}

func isList(method string) bool { return method == mcp.MethodListTasks }

// IsAdded reports whether it was berth that told the client of the session that decided of
// tasks: its upstream has none, and no list of them.
func IsAdded(at *routing.Decision) bool {
	return at.Key.Kind == sticky.Session && at.Binding.Tasks == sticky.TasksAdded
}

// IsMissing reports whether c, which was routed to at, asks for a list that its session's
// client was not told of: callers are not told apart, and the upstream has none.
func IsMissing(c *inbound.Call, at *routing.Decision) bool {
	return IsAdded(at) && !c.Endpoint.Router.Principals && c.AnyRequest(isList)
}

// List makes the page that w's call asks for, of these upstreams' tasks, and tells rec of each
// exchange. rule says which pages of browsers may read it: those that all upstreams let; nil
// is a list that none of them says so of: that of berth's own tasks alone, or of servers that berth shows. Where a session's owner gives none, the error is that
// of the request to it, an *exchange.SendError.
func (l *Lister) List(ctx context.Context, w outbound.Way, upstreams []*routing.Upstream, rec *audit.Record) (result []byte, rule *wire.Header, err error) {
	done, err := l.turn(ctx, w.Caller)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	m := &making{Lister: l, Way: w, record: rec, listed: map[string]struct{}{}}
	if err := m.begin(ctx, upstreams); err != nil {
		return nil, nil, err
	}
	for range rounds {
		if err := m.round(ctx); err != nil {
			return nil, nil, err
		}
		if len(m.page.Tasks) > 0 || len(m.places) == 0 {
			break
		}
	}
	if m.page.NextCursor, err = m.cursor(ctx); err != nil {
		return nil, nil, err
	}
	return m.page.Result(), m.rule, nil
}

// turn waits for caller's turn to make a list, for a short while.
func (l *Lister) turn(ctx context.Context, caller string) (done func(), err error) {
	short, cancel := context.WithTimeout(ctx, turnPatience)
	defer cancel()
	switch {
	case l.turns.Begin(short, caller) == nil:
		return func() { l.turns.End(caller) }, nil
	case ctx.Err() != nil:
		return nil, fault.ErrClientGone
	}
	return nil, fault.ListsBusy
}
