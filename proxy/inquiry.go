package proxy

import (
	"context"
	"errors"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/upgrade"
)

// inquiry finds out whether a pool looks at credentials, and takes a caller's: it puts the
// same question without them and with them. What is answered alike to both proves nothing.
type inquiry struct {
	x     *request
	owner *routing.Upstream // of the caller's session, who alone knows it; nil: any upstream will do
	bears bool              // the caller has credentials at all
	full  bearer            // with them
	bare  bearer            // without
}

// bearer is what goes upstream around a question: credentials are in it, or are not.
type bearer struct {
	header wire.Header
	query  string
}

// reaction is how a pool answers a question.
type reaction struct {
	stance
	refusal *mcp.Error // with refusing
	until   time.Time
}

type stance int

const (
	mute     stance = iota // a redirect, a failure, or no answer
	taking                 // 2xx with what was asked for
	refusing               // 401 or 403
	evading                // any other answer
)

// inquiry prepares the questions about the request's caller.
func (x *request) inquiry(ctx context.Context, bears bool) *inquiry {
	q := &inquiry{x: x, bears: bears, owner: x.home(ctx), full: bearer{x.way().OwnHeaders(), x.HTTP.URL.RawQuery}}
	q.full.header.Del(mcp.HeaderSession)
	if q.owner != nil {
		q.full.header.Set(mcp.HeaderSession, x.way().SessionAt(ctx, q.owner))
	}
	q.bare.header = q.full.header.Clone()
	q.bare.query = inbound.Without(x.Credentials(), q.bare.header, q.full.query)
	x.way().Authorize(q.bare.header) // what berth puts there is not the caller's, though it be equal
	return q
}

// home is the upstream of the request's session, nil if berth knows of none.
func (x *request) home(ctx context.Context) *routing.Upstream {
	router := x.Endpoint.Router
	if x.Session == "" {
		return nil
	}
	binding, _, err := router.Bindings.Lookup(ctx, router.SessionKey(x.Principal, x.Session))
	if err != nil {
		return nil
	}
	return x.Pool().Find(binding.Upstream)
}

// questions are what is asked, the cheapest first: a server has things that everybody may
// know, and few have everything.
func (q *inquiry) questions() []string {
	if q.x.Era() == mcp.EraLegacy {
		return []string{mcp.MethodPing, mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodGetTask}
	}
	return []string{mcp.MethodDiscover, mcp.MethodListTools, mcp.MethodGetTask}
}

// run asks until a question is refused without credentials: whether it is taken with them
// is the pool's word.
func (q *inquiry) run(ctx context.Context) error {
	unclear := false
	for _, method := range q.questions() {
		bare := q.withoutCredentials(ctx, method)
		if bare.stance == refusing && !q.bears {
			return bare.refusal
		}
		if bare.stance == refusing {
			bare = q.ask(ctx, q.full, method)
			switch bare.stance {
			case taking:
				return nil
			case refusing:
				return bare.refusal
			}
		}
		unclear = unclear || bare.stance == mute
	}
	if unclear {
		return fault.NoWord
	}
	return upgrade.ErrUnknown
}

// withoutCredentials is the reaction to a question without them, of late or now.
func (q *inquiry) withoutCredentials(ctx context.Context, method string) reaction {
	v := q.x.p.vouched
	sum := inbound.DigestOf(q.bare.header, func(name string) bool { return inbound.IsOfOneRequest(name) || inbound.IsOfOneCall(name) })
	key := inbound.Joined("bare", q.x.PoolName(), q.x.Version(), q.bare.header.Get(mcp.HeaderSession), method, q.x.HTTP.Host, q.bare.query, string(sum[:]))
	if known, ok := v.bare.Get(key); ok && time.Now().Before(known.until) {
		return known
	}
	found, _, _ := v.flights.Do(key, func() (any, error) {
		r := q.ask(ctx, q.bare, method)
		if r.stance != mute {
			r.until = time.Now().Add(vouchedFor)
			v.bare.Add(key, r)
		}
		return r, nil
	})
	return found.(reaction)
}

// ask puts a question to upstreams, one after another until one answers.
func (q *inquiry) ask(ctx context.Context, as bearer, method string) reaction {
	if q.owner != nil {
		lease := q.x.Pool().Own(q.owner)
		defer lease.Release()
		return q.put(ctx, q.owner, as, method)
	}
	var tried []*routing.Upstream
	for {
		lease, err := q.x.Pool().Pick(q.x.Era(), "", tried)
		if err != nil {
			return reaction{}
		}
		r := q.put(ctx, lease.Upstream, as, method)
		lease.Release()
		if r.stance != mute {
			return r
		}
		tried = append(tried, lease.Upstream)
	}
}

// put puts a question to u.
func (q *inquiry) put(ctx context.Context, u *routing.Upstream, as bearer, method string) reaction {
	x, task := q.x, ""
	if method == mcp.MethodGetTask {
		task = nobodysTask
	}
	target := *u.URL
	target.RawQuery = as.query
	out := outbound.Outgoing(wire.MethodPost, &target, x.Endpoint.HostFor(u, x.HTTP.Host), as.header.Clone(), x.way().OwnBody(method, task))
	if x.Era() == mcp.EraModern {
		out.Header.Set(mcp.HeaderVersion, x.Version())
		out.Header.Set(mcp.HeaderMethod, method)
		out.Header.Set(mcp.HeaderName, mcp.EncodeName(task))
	}
	response, err := x.Endpoint.Client.Send(ctx, out, 0)
	if err != nil {
		if failed, ok := errors.AsType[*exchange.SendError](err); ok && (!failed.Sent || failed.Garbled) && ctx.Err() == nil {
			outbound.To(x.Endpoint).NoteFailure(u, failed)
		}
		return reaction{}
	}
	defer response.Body.Close()
	return readReaction(response, task != "", x.crossedBy(u))
}

// nobodysTask is the id of a task that no server has.
const nobodysTask = "berth-asks-who-may-ask"

// readReaction reads an answer. About a task that nobody has, that there is none is what was
// asked for.
func readReaction(response *wire.Response, ofNobodysTask bool, crossed func()) reaction {
	if refusal := outbound.CredentialsRefused(response); refusal != nil {
		return reaction{stance: refusing, refusal: refusal}
	}
	switch status := response.Status; {
	case status/100 == 3, status == wire.StatusTooManyRequests, status >= 500:
		return reaction{}
	case status/100 != 2:
		return reaction{stance: evading}
	}
	a, err := outbound.OwnAnswer(response, crossed)
	if err == nil && (a.HasResult || ofNobodysTask && a.ErrorCode == mcp.CodeInvalidParams) {
		return reaction{stance: taking}
	}
	return reaction{stance: evading}
}
