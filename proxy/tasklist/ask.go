package tasklist

import (
	"context"
	"errors"
	"slices"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/proxy/fault"
	"berth/proxy/outbound"

	"golang.org/x/sync/errgroup"
)

// ask returns the next page of each of the list's places, or why the list cannot be
// whole. An upstream that is known not to answer spares the others the question.
func (m *making) ask(ctx context.Context) ([]taskwire.List, error) {
	if m.Session == "" && slices.ContainsFunc(m.places, func(p place) bool { return !p.isOwn() && p.upstream.Silent() }) {
		return nil, fault.ListSilent
	}
	pages, faults := make([]taskwire.List, len(m.places)), make([]error, len(m.places))
	var asking errgroup.Group
	asking.SetLimit(asksAtOnce)
	for i, p := range m.places {
		asking.Go(func() error {
			if pages[i], faults[i] = m.pageOf(ctx, p); !m.keeps(pages[i]) {
				pages[i], m.places[i].later = taskwire.List{}, true
			}
			return nil
		})
	}
	_ = asking.Wait()
	if at := slices.IndexFunc(m.places, place.isOwn); at >= 0 {
		if faults[at] != nil {
			return nil, faults[at]
		}
		faults = slices.Delete(faults, at, at+1) // berth's own word is none of the upstreams'
	}
	return pages, judge(faults)
}

// pageOf returns the next page of one place. Beside berth's own tasks an upstream that has
// no lists, or none without a session, has an empty one.
func (m *making) pageOf(ctx context.Context, p place) (taskwire.List, error) {
	if p.isOwn() {
		return m.ownPage(ctx, p.Cursor)
	}
	page, err := m.askOne(ctx, p)
	if r, ok := errors.AsType[*Refusal](err); ok && m.own && (r.Code == mcp.CodeMethodNotFound || m.wantsSession(ctx, p, r)) {
		return taskwire.List{}, nil
	}
	return page, err
}

// wantsSession reports whether an upstream refuses the list for want of a session: it says
// so of a ping as well, which nothing else can be wrong with.
func (m *making) wantsSession(ctx context.Context, p place, r *Refusal) bool {
	if m.Session != "" || !outbound.DeniesSession(r.Response.Status) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, outbound.ConfirmTime)
	defer cancel()
	status, _, err := m.Way.Ask(ctx, p.upstream, mcp.MethodPing, "")
	return err == nil && outbound.DeniesSession(status)
}

// askOne asks one upstream for a page. A list is a read: it is asked for once more if
// the exchange breaks, before the answer began or after.
func (m *making) askOne(ctx context.Context, p place) (taskwire.List, error) {
	lease := m.Pool().Own(p.upstream)
	defer lease.Release()
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if read := m.Endpoint.Timeouts.Read; read > 0 {
		bounded, cancel = context.WithTimeout(ctx, 2*read) // the body is bounded, too
	}
	defer cancel()
	first := outbound.Terms{Wait: m.Endpoint.Timeouts.Read, Again: true, Reads: true}
	list, err := m.exchange(bounded, p, first)
	if (errors.Is(err, fault.ListSilent) || first.Repeats(err)) && bounded.Err() == nil {
		list, err = m.exchange(bounded, p, outbound.Terms{Wait: first.Wait})
	}
	var failed *exchange.SendError
	switch {
	case err == nil:
		return list, nil
	case ctx.Err() != nil:
		return list, fault.ErrClientGone
	case !errors.As(err, &failed) || m.Session != "":
		return list, err
	case failed.Starved:
		return list, fault.ListStarved
	case failed.Garbled:
		return list, fault.BadUpstream
	}
	return list, fault.ListSilent
}
