package subscribe

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/listen"
	"berth/internal/wire"
	"berth/proxy/outbound"
	"berth/routing"
)

// sharedStreams are the streams at upstreams that subscribers share: one for each
// upstream and filter, however many clients listen. Only callers whom an upstream could
// not tell apart share one. The zero value has none.
type sharedStreams struct {
	mu      sync.Mutex // guards the field below
	streams map[sharedKey]*sharedStream
}

// sharedStream is one shared stream. It runs while it has members.
type sharedStream struct {
	all      *Subscriptions
	key      sharedKey
	upstream *routing.Upstream
	filter   listen.Filter
	request  *exchange.Request
	host     string // that the client asked for which came first
	stop     context.CancelFunc
	done     chan struct{}

	mu      sync.Mutex // guards the fields below
	members map[*leg]bool
	stands  *feed // nil: it does not
}

// join gives g a place at its stream, which it opens if there is none.
func (s *Subscriptions) join(g *leg) *sharedStream {
	header := g.sharedHeader()
	key := g.sharedKey(header)
	s.shared.mu.Lock()
	defer s.shared.mu.Unlock()
	stream := s.shared.streams[key]
	if stream == nil {
		stream = s.open(g, key, header)
		if s.shared.streams == nil {
			s.shared.streams = make(map[sharedKey]*sharedStream)
		}
		s.shared.streams[key] = stream
	}
	stream.add(g)
	return stream
}

// leave takes g's place away. The last one to leave waits for the stream's end.
func (s *sharedStreams) leave(stream *sharedStream, g *leg) {
	s.mu.Lock()
	last := stream.remove(g)
	if last {
		s.forget(stream)
	}
	s.mu.Unlock()
	if last {
		stream.stop()
		<-stream.done
	}
}

// forget keeps newcomers from a stream that has ended. s.mu must be held.
func (s *sharedStreams) forget(stream *sharedStream) {
	if s.streams[stream.key] == stream {
		delete(s.streams, stream.key)
	}
}

// open opens a stream in the name of g's caller, with a request of berth's own.
func (s *Subscriptions) open(g *leg, key sharedKey, header *wire.Header) *sharedStream {
	ctx, stop := context.WithCancel(context.Background())
	body := outbound.OwnOpening(mcp.MethodListen, map[string]any{
		"_meta": mcp.OwnMeta(g.l.Version()), "notifications": json.RawMessage(g.asked.Sorted().Encode()),
	})
	f := &sharedStream{
		all: s, key: key, upstream: g.upstream, filter: g.asked,
		request: outbound.Outgoing(wire.MethodPost, g.l.URL(g.upstream), key.host, header, body), host: g.l.HTTP.Host,
		stop: stop, done: make(chan struct{}), members: make(map[*leg]bool),
	}
	go f.run(ctx)
	return f
}

// add gives g a place. If the stream stands, g hears so at once.
func (f *sharedStream) add(g *leg) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.members[g] = true
	if f.stands != nil {
		g.l.inbox.post(report{leg: g, joined: f.stands})
	}
}

// remove reports whether g was the last.
func (f *sharedStream) remove(g *leg) (last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.members, g)
	return len(f.members) == 0
}

// run keeps the stream joined until its last member has left, or the upstream refuses
// it.
func (f *sharedStream) run(ctx context.Context) {
	defer close(f.done)
	keepJoined(ctx, f.key.ep.Router.Pool, f.upstream, func() error { return f.serve(ctx) }, f.lost)
}

// lost reports to the members that the stream is lost. Where the upstream refused it each
// gets the refusal as an answer to its own request.
func (f *sharedStream) lost(err error) {
	refusal, ok := errors.AsType[*Refusal](err)
	if !ok {
		f.post(nil, func(*leg) report { return report{lost: err} })
		return
	}
	f.all.shared.mu.Lock()
	f.all.shared.forget(f)
	f.all.shared.mu.Unlock()
	again := refusal.repeat(func() { f.all.Reporter.CrossedBy(f.key.ep.Router.Pool.Name(), f.upstream) })
	f.post(nil, func(g *leg) report { return report{lost: again(g.l.ID)} })
}

func (f *sharedStream) serve(ctx context.Context) error {
	pool := f.key.ep.Router.Pool
	at, err := awaitWork(ctx, pool, f.upstream)
	if err != nil {
		return err
	}
	ctx, stay := whileItWorks(ctx, at, func() bool { return true })
	defer stay()
	stream := &feed{all: f.all, ep: f.key.ep, upstream: at, id: []byte(outbound.OwnID)}
	out := *f.request
	out.URL, out.Host, out.Header = outbound.WithQuery(at.URL, f.key.query), f.key.ep.HostFor(at, f.host), out.Header.Clone()
	f.key.ep.Authorize(out.Header) // berth's own may be another one since
	if err := stream.subscribe(ctx, &out); err != nil {
		return left(ctx, err)
	}
	stream.granted = stream.agreed.Within(f.filter)
	dropOneCallers(stream.response.Header)
	defer stream.close()
	lease := pool.Own(at)
	lease.Stand()
	defer lease.Release()
	defer f.all.count(pool.Name(), true)()
	f.post(stream, func(*leg) report { return report{joined: stream} })
	for {
		r, err := stream.next()
		if err != nil {
			return left(ctx, err)
		}
		if message := r.hint(); message != nil {
			about := r.about
			f.post(stream, func(*leg) report { return report{raw: message, about: &about} })
		}
	}
}

// post reports to each member what happened. stands is the stream as it stands now.
func (f *sharedStream) post(stands *feed, happened func(*leg) report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stands = stands
	for g := range f.members {
		e := happened(g)
		e.leg = g
		g.l.inbox.post(e)
	}
}
