package proxy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"sync"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
)

// fleetFeeds are the streams at a pool's upstreams that subscribers share: one for each
// upstream and filter, however many clients listen. Only callers whom an upstream could
// not tell apart share one. The zero value has none.
type fleetFeeds struct {
	mu    sync.Mutex // guards the field below
	feeds map[feedKey]*fleetFeed
}

// feedKey is equal for those who may share a stream.
type feedKey struct {
	upstream, filter               string
	principal, credential, version string
	host, query                    string
	header                         [sha256.Size]byte // of sharedHeader
}

// fleetFeed is one shared stream. It runs while it has members.
type fleetFeed struct {
	key      feedKey
	ep       *inbound.Endpoint
	p        *Proxy
	upstream *routing.Upstream
	target   *url.URL
	host     string
	header   wire.Header
	filter   mcp.Filter
	body     []byte
	stop     context.CancelFunc
	done     chan struct{}

	mu      sync.Mutex // guards the fields below
	members map[*leg]bool
	stands  *feed // nil: it does not
}

// share makes a leg that is a place at the shared stream of u.
func (l *subscription) share(u *routing.Upstream, filter mcp.Filter) {
	g := &leg{l: l, upstream: u, asked: filter, shared: true}
	l.legs = append(l.legs, g)
	feeds := &l.x.p.learned[l.x.Endpoint].feeds
	feed := feeds.join(g)
	g.end = sync.OnceFunc(func() { feeds.leave(feed, g) })
}

// join gives g a place at its stream, which it opens if there is none.
func (s *fleetFeeds) join(g *leg) *fleetFeed {
	header := g.sharedHeader()
	key := g.feedKey(header)
	s.mu.Lock()
	defer s.mu.Unlock()
	feed := s.feeds[key]
	if feed == nil {
		feed = newFleetFeed(g, key, header)
		if s.feeds == nil {
			s.feeds = make(map[feedKey]*fleetFeed)
		}
		s.feeds[key] = feed
	}
	feed.add(g)
	return feed
}

// leave takes g's place away. The last one to leave waits for the stream's end.
func (s *fleetFeeds) leave(feed *fleetFeed, g *leg) {
	s.mu.Lock()
	last := feed.remove(g)
	if last {
		s.forget(feed)
	}
	s.mu.Unlock()
	if last {
		feed.stop()
		<-feed.done
	}
}

// forget keeps newcomers from a stream that has ended. s.mu must be held.
func (s *fleetFeeds) forget(feed *fleetFeed) {
	if s.feeds[feed.key] == feed {
		delete(s.feeds, feed.key)
	}
}

func (g *leg) feedKey(header wire.Header) feedKey {
	x := g.l.x
	return feedKey{
		upstream:  g.upstream.Name,
		filter:    string(g.asked.Sorted().Encode()),
		principal: x.Principal, credential: x.Credential, version: x.Version(),
		host: x.Endpoint.HostFor(g.upstream, x.HTTP.Host), query: x.HTTP.URL.RawQuery,
		header: inbound.DigestOf(header, func(string) bool { return false }),
	}
}

// sharedHeader is the header of the request for a shared stream: that of g's caller,
// less what tells of one call or of the way that it came. What is left is all that an
// upstream can tell callers by, whichever header they authenticate with.
func (g *leg) sharedHeader() wire.Header {
	x := g.l.x
	h := x.way().Headers()
	maps.DeleteFunc(h, func(name string, _ []string) bool { return inbound.IsOfOneRequest(name) })
	outbound.DropCallsOwn(h)
	for _, name := range []string{mcp.HeaderName, mcp.HeaderSession, mcp.HeaderLastEvent} {
		h.Del(name)
	}
	if x.Endpoint.Authorization != nil {
		h.Del("Authorization") // berth's own may change, and is set anew for each request
	}
	outbound.PostJSON(h)
	h.Set("Accept-Encoding", "identity")
	outbound.AddVia(h, 1, 1)
	if x.Era() == mcp.EraModern {
		h.Set(mcp.HeaderVersion, x.Version())
		h.Set(mcp.HeaderMethod, mcp.MethodListen)
	}
	return h
}

// newFleetFeed opens a stream in the name of g's caller, with a request of berth's own.
func newFleetFeed(g *leg, key feedKey, header wire.Header) *fleetFeed {
	x := g.l.x
	ctx, stop := context.WithCancel(context.Background())
	f := &fleetFeed{
		key: key, ep: x.Endpoint, p: x.p, upstream: g.upstream,
		target: x.way().URL(g.upstream), host: key.host, header: header, filter: g.asked, body: ownListen(x.Version(), g.asked),
		stop: stop, done: make(chan struct{}), members: make(map[*leg]bool),
	}
	go f.run(ctx)
	return f
}

// ownListen is the body of a subscription of berth's own.
func ownListen(version string, filter mcp.Filter) []byte {
	body, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": json.RawMessage(outbound.OwnID), "method": mcp.MethodListen,
		"params": map[string]any{"_meta": mcp.OwnMeta(version), "notifications": json.RawMessage(filter.Sorted().Encode())},
	}) // strings, maps and a filter always marshal
	return body
}

// add gives g a place, and tells it at once if the stream stands.
func (f *fleetFeed) add(g *leg) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members[g] = true
	if f.stands != nil {
		g.l.inbox.post(legEvent{leg: g, joined: f.stands})
	}
}

// remove reports whether g was the last.
func (f *fleetFeed) remove(g *leg) (last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.members, g)
	return len(f.members) == 0
}

// run keeps the stream joined until its last member has left, or the upstream refuses
// it.
func (f *fleetFeed) run(ctx context.Context) {
	defer close(f.done)
	keepJoined(ctx, f.upstream, func() error { return f.serve(ctx) }, func(err error) {
		refused, ok := errors.AsType[*refusedFeed](err)
		if !ok {
			f.tell(nil, func(*leg) legEvent { return legEvent{lost: err} })
			return
		}
		feeds := &f.p.learned[f.ep].feeds
		feeds.mu.Lock()
		feeds.forget(f)
		feeds.mu.Unlock()
		again := refused.repeat(f.crossed)
		f.tell(nil, func(g *leg) legEvent { return legEvent{lost: again(g.l.x.ID)} })
	})
}

func (f *fleetFeed) serve(ctx context.Context) error {
	stream := f.p.newFeed(f.ep, f.upstream, []byte(outbound.OwnID))
	if err := stream.subscribe(ctx, f.ep, f.request()); err != nil {
		return err
	}
	stream.granted = stream.agreed.Within(f.filter)
	dropOneCallers(stream.response.Header)
	defer stream.close()
	lease := f.ep.Router.Pool.Own(f.upstream)
	defer lease.Release()
	f.p.audit.Subscribed(f.ep.Router.Pool.Name(), true, 1)
	defer f.p.audit.Subscribed(f.ep.Router.Pool.Name(), true, -1)
	f.tell(stream, func(*leg) legEvent { return legEvent{joined: stream} })
	for {
		s, err := stream.next()
		if err != nil {
			return err
		}
		if s.message != nil {
			message, about := bytes.Clone(s.message), s.about
			f.tell(stream, func(*leg) legEvent { return legEvent{raw: message, about: &about} })
		}
	}
}

func (f *fleetFeed) crossed() { f.p.audit.CrossedBy(f.ep.Router.Pool.Name(), f.upstream) }

func (f *fleetFeed) request() *exchange.Request {
	out := &exchange.Request{Method: wire.MethodPost, URL: f.target, Host: f.host, Header: f.header.Clone(), Body: f.body}
	f.ep.Authorize(out.Header) // berth's own may be another one since
	return out
}

// tell tells each member what event makes. stands is the stream as it stands now.
func (f *fleetFeed) tell(stands *feed, event func(*leg) legEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stands = stands
	for g := range f.members {
		e := event(g)
		e.leg = g
		g.l.inbox.post(e)
	}
}
