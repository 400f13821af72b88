package bridge

import (
	"context"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/bridge/held"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/sessions"
	"berth/proxy/inbound"
	"berth/routing"
)

// modernVersion is the one that a bridge speaks to its callers.
const modernVersion = "2026-07-28"

// face is one upstream of the legacy era as a modern server. It implements exchange.Sender.
type face struct {
	b       *Bridge
	u       *legacy.Upstream
	probing chan struct{} // holds one: who finds out what the upstream speaks
	calls   *held.Calls   // that wait for their clients
	*stock
}

// stock is what is open at an upstream, and known of it, whichever list of its pool's that stands in.
type stock struct {
	sessions *sessions.Pool

	mu sync.Mutex // guards the fields below

	// tools are the headers that calls must bear, by the tool's name; nil: nobody has looked since they
	// have changed. The map does not change.
	tools map[string][]mcp.Mirror

	learned time.Time // when the server was last asked for them

	// supports is what tools say of tasks, by the name of all that were listed. The map does not
	// change.
	supports map[string]string

	tasks   capability // of the upstream: calls of tools may become tasks
	cancels capability // of the upstream: tasks can be cancelled
}

// newFace returns the face of u, which goes on with what before had; nil is none.
func newFace(b *Bridge, u *routing.Upstream, before *face) *face {
	at := &legacy.Upstream{Upstream: u, Endpoint: func() *inbound.Endpoint { return b.options().Endpoint }, Log: b.options().Logger}
	f := &face{b: b, u: at, probing: make(chan struct{}, 1)}
	if before != nil {
		f.calls, f.stock = before.calls, before.stock
		return f
	}
	f.calls = held.New(func() time.Duration { return b.options().Question }, b.options().Store, b.name, b.metrics.questions)
	f.stock = &stock{sessions: sessions.NewPool(b.sessionSettings, f)}
	return f
}

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

// isEmpty reports whether nothing is open at the upstream, nor waits for its client.
func (f *face) isEmpty() bool { return f.sessions.IsEmpty() && f.calls.Size() == 0 }

// Opened implements sessions.Around.
func (f *face) Opened(result []byte) { f.noteTasks(result) }

// GiveUpOldest implements sessions.Around.
func (f *face) GiveUpOldest(on func(s *sessions.Session) bool) bool { return f.calls.GiveUpOldest(on) }
