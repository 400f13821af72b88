package proxy

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"berth/proxy/audit"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/proxy/reply"

	"golang.org/x/sync/errgroup"
)

// refusal is what an upstream answers in place of a list.
type refusal struct {
	response *wire.Response
	body     []byte
	code     int // of the JSON-RPC error; 0 if there is none
}

// Error describes the refusal for logs.
func (r *refusal) Error() string {
	return "proxy: an upstream refused the list: " + strconv.Itoa(r.response.Status)
}

// concernsCaller reports whether it is the caller who must act on the refusal, whoever
// of the pool says it: by logging in, or by waiting.
func (r *refusal) concernsCaller() bool {
	switch r.response.Status {
	case wire.StatusUnauthorized, wire.StatusForbidden, wire.StatusTooManyRequests:
		return true
	}
	return false
}

// ask returns the next page of each of the list's places, or why the list cannot be
// whole. An upstream that is known not to answer spares the others the question.
func (l *listing) ask() ([]mcp.TaskList, error) {
	if l.x.Session == "" {
		for _, p := range l.places {
			if !p.isOwn() && p.upstream.Silent() {
				return nil, fault.ListSilent
			}
		}
	}
	pages, faults := make([]mcp.TaskList, len(l.places)), make([]error, len(l.places))
	var asking errgroup.Group
	asking.SetLimit(asksAtOnce)
	for i, p := range l.places {
		asking.Go(func() error {
			if pages[i], faults[i] = l.pageOf(p); !l.keeps(pages[i]) {
				pages[i], l.places[i].later = mcp.TaskList{}, true
			}
			return nil
		})
	}
	_ = asking.Wait()
	if at := slices.IndexFunc(l.places, place.isOwn); at >= 0 {
		if faults[at] != nil {
			return nil, faults[at]
		}
		faults = slices.Delete(faults, at, at+1) // berth's own word is none of the upstreams'
	}
	return pages, judge(faults)
}

// pageOf returns the next page of one place. Beside berth's own tasks an upstream that has
// no lists, or none without a session, has an empty one.
func (l *listing) pageOf(p place) (mcp.TaskList, error) {
	if p.isOwn() {
		return l.ownPage(p.Cursor)
	}
	page, err := l.askOne(p)
	if r, ok := errors.AsType[*refusal](err); ok && l.x.listsOwn() && (r.code == mcp.CodeMethodNotFound || l.wantsSession(p, r)) {
		return mcp.TaskList{}, nil
	}
	return page, err
}

// wantsSession reports whether an upstream refuses the list for want of a session: it says
// so of a ping as well, which nothing else can be wrong with.
func (l *listing) wantsSession(p place, r *refusal) bool {
	if l.x.Session != "" || !outbound.DeniesSession(r.response.Status) {
		return false
	}
	ctx, cancel := context.WithTimeout(l.x.ctx, outbound.ConfirmTime)
	defer cancel()
	status, _, err := l.x.way().Ask(ctx, p.upstream, mcp.MethodPing, "")
	return err == nil && outbound.DeniesSession(status)
}

// judge sums up why upstreams gave no page. What all of them say instead is the answer;
// what only some say leaves a gap.
func judge(faults []error) error {
	var first *refusal
	var failed error
	refused := 0
	for _, err := range faults {
		var r *refusal
		switch {
		case errors.As(err, &r) && r.concernsCaller():
			return r
		case errors.As(err, &r):
			refused++
			if first == nil {
				first = r
			}
		case err != nil && failed == nil:
			failed = err
		}
	}
	switch {
	case failed != nil:
		return failed
	case first != nil && refused == len(faults):
		return first
	case refused > 0:
		return fault.ListUneven
	}
	return nil
}

// askOne asks one upstream for a page. A list is a read: it is asked for once more if
// the exchange breaks, before the answer began or after.
func (l *listing) askOne(p place) (mcp.TaskList, error) {
	x := l.x
	lease := x.Pool().Own(p.upstream)
	defer lease.Release()
	ctx, cancel := x.ctx, context.CancelFunc(func() {})
	if read := x.Endpoint.Timeouts.Read; read > 0 {
		ctx, cancel = context.WithTimeout(ctx, 2*read) // the body is bounded, too
	}
	defer cancel()
	first := outbound.Terms{Wait: x.Endpoint.Timeouts.Read, Again: true, Reads: true}
	list, err := l.exchange(ctx, p, first)
	if (errors.Is(err, fault.ListSilent) || first.Repeats(err)) && ctx.Err() == nil {
		list, err = l.exchange(ctx, p, outbound.Terms{Wait: first.Wait})
	}
	var failed *exchange.SendError
	switch {
	case err == nil:
		return list, nil
	case x.gone():
		return list, fault.ErrClientGone
	case errors.As(err, &failed) && x.Session != "":
		return list, x.ownerFailed(p.upstream, err)
	case errors.As(err, &failed) && failed.Starved:
		return list, fault.Overloaded
	case errors.As(err, &failed):
		if failed.Garbled {
			return list, fault.BadUpstream
		}
		return list, fault.ListSilent
	}
	return list, err
}

// exchange sends the request to one upstream and reads the page that it answers.
func (l *listing) exchange(ctx context.Context, p place, t outbound.Terms) (mcp.TaskList, error) {
	x := l.x
	out := x.way().Request(p.upstream, wire.MethodPost, x.way().URL(p.upstream), l.bodyFor(p))
	sent := x.rec.Exchange(p.upstream)
	response, err := outbound.To(x.Endpoint).Send(ctx, p.upstream, out, t)
	if err != nil {
		x.rec.Exchanged(sent, audit.ErrorType(err))
		x.p.gate.Note(err)
		return mcp.TaskList{}, err
	}
	defer response.Body.Close()
	list, err := l.readPage(p, response)
	if err == nil {
		l.ruledBy(reply.CrossOrigin(response.Header))
	}
	x.rec.Exchanged(sent, pageErrorType(err))
	var refused *refusal
	switch {
	case errors.As(err, &refused) && refused.code == mcp.CodeInvalidParams && p.Cursor != "":
		return list, mcp.ErrInvalidCursor
	case err == nil && list.NextCursor != "" && list.NextCursor == p.Cursor:
		return list, fault.BadUpstream // it would never end
	}
	return list, err
}

// pageErrorType is error.type of an exchange that brought a page, or an answer that
// is none.
func pageErrorType(err error) string {
	var refused *refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused) && refused.code != 0:
		return strconv.Itoa(refused.code)
	}
	return audit.ErrorType(err)
}

// bodyFor is the client's request with the upstream's own cursor in the place of the
// client's. Without either it goes as it came.
func (l *listing) bodyFor(p place) []byte {
	if p.Cursor == "" && l.x.Single().Cursor == "" {
		return l.x.Body
	}
	return mcp.WithCursor(l.x.Body, p.Cursor)
}

// readPage reads one upstream's page, or its refusal. What breaks off or takes too
// long is as good as silence.
func (l *listing) readPage(p place, response *wire.Response) (mcp.TaskList, error) {
	if response.Status >= 300 && response.Status < 400 {
		return mcp.TaskList{}, fault.Redirect
	}
	body, err := exchange.ReadWhole(response, l.x.ID, listBytes, l.x.rec.CrossedBy(p.upstream))
	switch {
	case errors.Is(err, exchange.ErrTooLong), errors.Is(err, exchange.ErrNoResponse), errors.Is(err, exchange.ErrCrossed):
		return mcp.TaskList{}, fault.BrokenOff(err)
	case err != nil:
		return mcp.TaskList{}, fault.ListSilent
	}
	a, err := mcp.PeekAnswer(body, false)
	if !a.HasResult && (a.IsError && err == nil || response.Status >= 400) {
		return mcp.TaskList{}, &refusal{response, body, a.ErrorCode}
	}
	if err != nil {
		return mcp.TaskList{}, fault.BrokenOff(err)
	}
	if response.Status >= 400 {
		return mcp.TaskList{}, fault.BadUpstream // a result with an error's status
	}
	list, err := mcp.ReadTaskList(a.Result)
	if err != nil {
		return list, fault.BrokenOff(err)
	}
	return list, nil
}

// passRefusal gives the client what the upstreams say in place of a list, as it came.
// Any other error it returns.
func (x *request) passRefusal(err error) error {
	var r *refusal
	if !errors.As(err, &r) {
		return err
	}
	x.rec.Code = r.code
	if exchange.ShapeOf(r.response) == exchange.EventStream {
		x.out.Respond(r.response.Status, r.body)
		return nil
	}
	x.inboundHeaders(r.response)
	x.out.Header().Set("Content-Length", strconv.Itoa(len(r.body)))
	x.out.WriteHeader(r.response.Status)
	return x.out.Write(r.body)
}
