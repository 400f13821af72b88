package tasklist

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/outbound"
	"berth/proxy/reply"
	"berth/routing"
)

// making is a list that is being made.
type making struct {
	*Lister
	outbound.Way // in whose name upstreams are asked

	record *audit.Record
	own    bool     // it bears tasks of berth's own making: only where callers are told apart
	about  []string // what its cursors are good for
	places []place  // where the list goes on, in the pool's order
	page   taskwire.List
	listed map[string]struct{} // ids on the page
	kept   atomic.Int64        // bytes of the upstreams' pages that this round holds

	mu   sync.Mutex   // guards the field below
	rule *wire.Header // nil: none that has answered says so itself
}

// begin begins where the cursor says that the list goes on. A cursor is good for this caller
// and session, and for the very upstreams that it was given out over: where one has come or
// gone since, only a list from the beginning is whole.
func (m *making) begin(ctx context.Context, upstreams []*routing.Upstream) error {
	c := m.Single()
	if err := c.CheckCursor(); err != nil {
		return err
	}
	m.own = m.tasks != nil && m.Endpoint.Router.Principals && m.rules.In(m.PoolName())
	m.about = []string{m.PoolName(), m.Principal, m.Session}
	if m.own {
		m.places = append(m.places, place{})
	}
	for _, u := range upstreams {
		m.places = append(m.places, place{Upstream: u.Name, upstream: u})
		m.about = append(m.about, u.Name)
	}
	slices.Sort(m.about[3:])
	if len(m.places) == 0 {
		return routing.ErrNoUpstream
	}
	if c.Cursor == "" {
		return nil
	}
	return m.resume(ctx, c.Cursor, upstreams)
}

// round asks each upstream that has more for its next page, and adds what is the
// caller's to the client's page.
func (m *making) round(ctx context.Context) error {
	m.kept.Store(0)
	pages, err := m.ask(ctx)
	if err != nil {
		return err
	}
	var rest []place
	for i, p := range m.places {
		if p.later {
			p.later = false
			rest = append(rest, p)
			continue
		}
		tasks, err := m.callers(ctx, p, pages[i].Tasks)
		if err != nil {
			return err
		}
		m.add(tasks)
		if p.Cursor = pages[i].NextCursor; p.Cursor != "" {
			rest = append(rest, p)
		}
	}
	m.places = rest
	return nil
}

// keeps reports whether a page may stay in memory beside those that came before it:
// all together make the client's page, and a pool may have any number of upstreams.
// The first one always may.
func (m *making) keeps(page taskwire.List) bool {
	var size int64
	for _, t := range page.Tasks {
		size += int64(len(t.Raw))
	}
	if sum := m.kept.Add(size); sum == size || sum <= pageBytes {
		return true
	}
	m.kept.Add(-size)
	return false
}

// add puts tasks on the page. Upstreams that share their tasks each list all of them: a
// task stands on a page once.
func (m *making) add(tasks []taskwire.Listed) {
	for _, t := range tasks {
		if _, twice := m.listed[t.ID]; !twice {
			m.listed[t.ID] = struct{}{}
			m.page.Tasks = append(m.page.Tasks, t)
		}
	}
}

// ruledBy notes which pages one of the upstreams lets read its list. Where they differ
// none may read the whole.
func (m *making) ruledBy(rule *wire.Header) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rule != nil && !reply.SameRule(m.rule, rule) {
		rule = new(wire.Header)
	}
	m.rule = rule
}
