package bridge

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/session"
	"berth/routing"
)

// The versions that a bridge speaks on its two sides. Streams of legacy servers can be resumed
// only by clients of 2025-11-25.
const (
	modernVersion = "2026-07-28"
	legacyVersion = "2025-11-25"
)

// face is one upstream of the legacy era as a modern server. It implements exchange.Sender.
type face struct {
	b       *Bridge
	u       *routing.Upstream
	log     *slog.Logger
	probing chan struct{} // holds one: who finds out what the upstream speaks
	holds   *holds
	*stock
}

// stock is what is open at an upstream, and known of it, whichever list of its pool's that stands in.
type stock struct {
	mu      sync.Mutex // guards the fields below
	shelves map[string]*shelf
	open    int // sessions
	// listeners are subscriptions, by whose they are: they hear all sessions of theirs.
	listeners map[string]map[*listener]bool

	// tools are the headers that calls must bear, by the tool's name; nil: nobody has looked since they
	// have changed. The map does not change.
	tools map[string][]mcp.Mirror

	learned time.Time // when the server was last asked for them

	// supports is what tools say of tasks, by the name of all that were listed. The map does not
	// change.
	supports map[string]string

	tasks   capability // of the upstream: calls of tools may become tasks
	cancels capability // of the upstream: tasks can be cancelled
	replays replays
}

// newFace returns the face of u, which goes on with what before had; nil is none.
func newFace(b *Bridge, u *routing.Upstream, before *face) *face {
	f := &face{b: b, u: u, log: b.options().Logger, probing: make(chan struct{}, 1)}
	if before != nil {
		f.holds, f.stock = before.holds, before.stock
		return f
	}
	f.holds = newHolds(func() time.Duration { return b.options().Question }, marks{b.options().Store, b.name})
	f.stock = &stock{shelves: map[string]*shelf{}, listeners: map[string]map[*listener]bool{}}
	return f
}

func (f *face) pool() *routing.Pool { return f.b.options().Endpoint.Router.Pool }

// Close implements exchange.Sender: there is nothing to close that Run does not end.
func (f *face) Close() {}

// Send implements exchange.Sender.
func (f *face) Send(ctx context.Context, out *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if !f.needsBridge(ctx, out) {
		return f.b.options().Endpoint.Client.Send(ctx, out, wait)
	}
	if out.Method != wire.MethodPost {
		response := exchange.Refusal(errPostAlone, nil)
		response.Header.Set("Allow", wire.MethodPost)
		return response, nil
	}
	c, refusal := f.read(out)
	if refusal != nil {
		return exchange.Refusal(refusal, c.id), nil
	}
	ctx, done := bounded(ctx, wait)
	response, err := c.serve(ctx)
	if done() && err != nil {
		err = timedOut(err)
	}
	return response, err
}

// bounded is ctx for as long as an answer's headers may take, and from then on without that
// bound. done reports whether they took too long.
func bounded(ctx context.Context, wait time.Duration) (_ context.Context, done func() (late bool)) {
	if wait <= 0 {
		return ctx, func() bool { return false }
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(wait, func() { cancel(errLate) })
	return ctx, func() bool { return !timer.Stop() && context.Cause(ctx) == errLate }
}

// opener opens sessions in the name of who sends out.
func (f *face) opener(out *exchange.Request) session.Opener {
	return session.Opener{
		Endpoint: f.b.options().Endpoint, Log: f.log,
		Post:    func(_ *routing.Upstream, body []byte) *exchange.Request { return ownPost(out, body) },
		IsOdd:   func(h *wire.Header) bool { return inbound.HasOddSession(h, maxSession) },
		Crossed: func(*routing.Upstream) func() { return func() {} },
	}
}

// ownPost is a POST of berth's own in the name of who sends out, in no session and of no version.
func ownPost(out *exchange.Request, body []byte) *exchange.Request {
	own := &exchange.Request{Method: wire.MethodPost, URL: out.URL, Host: out.Host, Header: out.Header.Clone(), Body: body, Caller: out.Caller}
	outbound.MakeOwn(own.Header)
	own.Header.Del(mcp.HeaderVersion)
	own.Header.Del(mcp.HeaderSession)
	own.Header.Del("Content-Length")
	return own
}

// send sends a request in a session. What comes of it feeds the upstream's health.
func (f *face) send(ctx context.Context, out *exchange.Request, l *loan, method string, body []byte, wait time.Duration) (*wire.Response, error) {
	in := l.request(out, method, body)
	return outbound.To(f.b.options().Endpoint).Send(ctx, f.u, in, outbound.Terms{Wait: wait, Watched: wait == 0})
}

// request is a request in a session, in the name of who sends out. The caller is whoever opened it:
// a client may declare something else in a later round.
func (l *loan) request(out *exchange.Request, method string, body []byte) *exchange.Request {
	in := ownPost(out, body)
	in.Method, in.Caller = method, l.opened.Caller
	if body == nil {
		in.Header.Del("Content-Type")
	}
	if method == wire.MethodGet {
		in.Header.Set("Accept", "text/event-stream")
	}
	in.Header.Set(mcp.HeaderVersion, l.version)
	if l.id != "" {
		in.Header.Set(mcp.HeaderSession, l.id)
	}
	return in
}

// tell posts a notification or a response in a session. Its time is short.
func (f *face) tell(ctx context.Context, out *exchange.Request, l *loan, body []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellTime)
	defer cancel()
	response, err := f.send(ctx, out, l, wire.MethodPost, body, tellTime)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.Status/100 != 2 {
		return &session.Refusal{Status: response.Status, Header: response.Header.Clone()}
	}
	return nil
}

// tellTime bounds what telling an upstream something may take.
const tellTime = 5 * time.Second

// maxSession bounds the name of a session, in bytes.
const maxSession = 4 << 10
