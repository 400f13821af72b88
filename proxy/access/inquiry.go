package access

import (
	"context"
	"time"

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
	outbound.Way

	cache *Checker
	home  *routing.Upstream // of the caller's session, who alone knows it; nil: any upstream will do
	bears bool              // the caller has credentials at all
	full  bearer            // with them
	bare  bearer            // without
}

// bearer is what goes upstream around a question: credentials are in it, or are not.
type bearer struct {
	header *wire.Header
	query  string
}

// newInquiry prepares the questions about the caller that way is for, which bears credentials or not.
func (k *Checker) newInquiry(ctx context.Context, way outbound.Way, bears bool) *inquiry {
	way.Call = way.Call.Kept() // who asks may not be the last who waits for it
	q := &inquiry{Way: way, cache: k, home: homeOf(ctx, way.Call), bears: bears, full: bearer{way.OwnHeaders(), way.HTTP.URL.RawQuery}}
	q.full.header.Del(mcp.HeaderSession)
	if q.home != nil {
		q.full.header.Set(mcp.HeaderSession, way.SessionAt(ctx, q.home))
	}
	q.bare.header = q.full.header.Clone()
	q.bare.query = inbound.Without(way.Credentials(), q.bare.header, q.full.query)
	way.Authorize(q.bare.header) // what berth puts there is not the caller's, though it be equal
	return q
}

// homeOf is the upstream of the request's session, nil if berth knows of none.
func homeOf(ctx context.Context, call *inbound.Call) *routing.Upstream {
	router := call.Endpoint.Router
	if call.Session == "" {
		return nil
	}
	binding, _, err := router.Bindings.Lookup(ctx, router.SessionKey(call.Principal, call.Session))
	if err != nil {
		return nil
	}
	return call.Pool().Find(binding.Upstream)
}

// questions are what is asked, the cheapest first: a server has things that everybody may
// know, and few have everything.
func (q *inquiry) questions() []string {
	if q.Era() == mcp.EraLegacy {
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
	sum := inbound.DigestOf(q.bare.header, func(name string) bool { return inbound.IsOfOneRequest(name) || inbound.IsOfOneCall(name) })
	key := inbound.Joined("bare", q.PoolName(), q.Version(), q.bare.header.Get(mcp.HeaderSession), method, q.HTTP.Host, q.bare.query, string(sum[:]))
	if known, ok := q.cache.bare.Get(key); ok && time.Now().Before(known.until) {
		return known
	}
	found, _, _ := q.cache.flights.Do(key, func() (any, error) {
		r := q.ask(ctx, q.bare, method)
		if r.stance != mute {
			r.until = time.Now().Add(takenFor)
			q.cache.bare.Add(key, r)
		}
		return r, nil
	})
	return found.(reaction)
}

// ask puts a question to upstreams, one after another until one answers.
func (q *inquiry) ask(ctx context.Context, as bearer, method string) reaction {
	if q.home != nil {
		lease := q.Pool().Own(q.home)
		defer lease.Release()
		return q.put(ctx, q.home, as, method)
	}
	var tried []*routing.Upstream
	for {
		lease, err := q.Pool().Pick(q.Work(""), tried)
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
	task := ""
	if method == mcp.MethodGetTask {
		task = nobodysTask
	}
	out := outbound.Outgoing(wire.MethodPost, outbound.WithQuery(u.URL, as.query), q.Endpoint.HostFor(u, q.HTTP.Host), as.header.Clone(), q.OwnBody(method, task))
	q.MirrorCall(out.Header, method, task)
	response, err := outbound.To(q.Endpoint).Send(ctx, u, out, outbound.Terms{})
	if err != nil {
		return reaction{}
	}
	defer response.Body.Close()
	return readReaction(response, mcp.ID(out.Body), task != "", q.Crossed(u))
}

// nobodysTask is the id of a task that no server has.
const nobodysTask = "berth-asks-who-may-ask"
