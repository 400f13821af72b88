package bridge

import (
	"context"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/wire"
	"berth/proxy/bridge/coretasks"
	"berth/proxy/bridge/legacy"
	"berth/proxy/bridge/rounds"
	"berth/proxy/inbound"
	"berth/routing"
)

// modernVersion is the one that a bridge speaks to its callers.
const modernVersion = "2026-07-28"

// face is one upstream of the legacy era as a modern server. It implements exchange.Sender.
type face struct {
	b        *Bridge
	u        *legacy.Upstream
	probing  chan struct{}             // holds one: who finds out what the upstream speaks
	silences atomic.Int64              // how often the upstream was silent about what it speaks
	doubted  atomic.Pointer[time.Time] // when the upstream was last asked whether it is modern still, and when that was over; nil: it was not
	tasks    *coretasks.Server
	*stock
}

// newFace returns the face of u, which goes on with what before had; nil is none.
func newFace(b *Bridge, u *routing.Upstream, before *face) *face {
	at := &legacy.Upstream{Upstream: u, Endpoint: func() *inbound.Endpoint { return b.options().Endpoint }, Log: b.options().Logger}
	f := &face{b: b, u: at, probing: make(chan struct{}, 1)}
	if before != nil {
		f.stock = before.stock
	} else {
		f.stock = newStock(b)
	}
	f.tasks = &coretasks.Server{At: at, Sessions: f.sessions, Support: &f.support, Notes: b.notes, Longest: func() int { return b.options().TaskID }}
	return f
}

// Close implements exchange.Sender: there is nothing to close that Run does not end.
func (f *face) Close() {}

// Send implements exchange.Sender.
func (f *face) Send(ctx context.Context, out *exchange.Request, wait time.Duration) (*wire.Response, error) {
	if f.isBridged(ctx, out) {
		return f.serve(ctx, out, wait)
	}
	if needs, unclear := f.needsBridge(ctx, out); !needs {
		response, err := f.b.options().Endpoint.Client.Send(ctx, out, wait)
		if err != nil || !unclear || !f.isLegacyBy(ctx, out, response) {
			return response, err
		}
		response.Body.Close()
		out.Written = false // it is looked at again
	}
	return f.serve(ctx, out, wait)
}

// isBridged reports whether a request brings the state of a call that goes on over the bridge, whichever upstream it was routed to: it is
// nobody else's.
func (f *face) isBridged(ctx context.Context, out *exchange.Request) bool {
	if !out.GoesOn || out.Method != wire.MethodPost {
		return false
	}
	c, refusal := f.read(out)
	keys := f.b.options().Keys
	if refusal != nil || c.RequestState == "" || !keys.HasMade(ctx, c.RequestState) {
		return false
	}
	_, err := rounds.Open(ctx, keys, c.about(), c.RequestState) // it may be another pool's, whose berth is a server here
	return err == nil
}

// serve answers the request in the place of an upstream of the legacy era.
func (f *face) serve(ctx context.Context, out *exchange.Request, wait time.Duration) (*wire.Response, error) {
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
