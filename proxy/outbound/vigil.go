package outbound

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/alarm"
	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// signTime bounds how long an upstream may take for a sign of life.
const signTime = 5 * time.Second

// vigil watches over an exchange that nothing bounds: a tool may think for an hour, a stream
// of a session stands for days, and neither would notice that its upstream froze. Where it
// has said nothing for Timeouts.Quiet, and no other exchange has heard of the upstream
// meanwhile, the upstream is asked for a sign of life, as the exchange's client would: a
// ping outside of a session opens one at some servers, and nobody ends that. Who runs a hosted upstream watches
// over its processes, each by itself.
type vigil struct {
	io.ReadCloser // the answer's body; of a vigil that has one

	ctx   context.Context // the exchange's
	ep    Sender
	u     *routing.Upstream
	said  atomic.Bool // something since the last look
	heard int64       // what Upstream.Answers was then; Wake's
	next  alarm.Alarm // for the next look

	mu   sync.Mutex               // guards the fields below
	out  *exchange.Request        // the exchange's, and not to be looked at once that has ended; nil: it has
	anew func() *exchange.Request // makes another one like it; nil: out is that
}

// sendWatched is by.Send, with a vigil over what wait does not bound: the wait for a
// header where it is 0, and event streams.
func (s Sender) sendWatched(ctx context.Context, u *routing.Upstream, by exchange.Sender, out *exchange.Request, wait time.Duration) (*wire.Response, error) {
	var v *vigil
	if wait == 0 {
		v = s.watch(ctx, u, out)
	}
	response, err := by.Send(ctx, out, wait)
	switch {
	case err != nil:
		v.end()
		return nil, err
	case v == nil && exchange.ShapeOf(response) == exchange.EventStream:
		v = s.watch(ctx, u, out)
	}
	if v != nil {
		v.ReadCloser = response.Body
		response.Body = v
	}
	return response, nil
}

func (s Sender) watch(ctx context.Context, u *routing.Upstream, out *exchange.Request) *vigil {
	v := &vigil{ctx: ctx, ep: s, u: u, out: out, heard: u.Answers()}
	s.Vigils().Set(&v.next, v, s.Timeouts.Quiet)
	return v
}

// end ends the vigil, if it has not ended before; nil is none.
func (v *vigil) end() {
	if v == nil {
		return
	}
	v.mu.Lock()
	v.out = nil
	v.mu.Unlock()
	v.ep.Vigils().Stop(&v.next)
}

// Wake looks whether something was heard. It implements alarm.Sleeper.
func (v *vigil) Wake() {
	heard := v.u.Answers()
	if !v.said.Swap(false) && heard == v.heard && !v.u.Silent() {
		if sign := v.sign(); sign != nil {
			go func() { // for signTime at most
				v.u.Ping(func() { v.ask(sign) })
				v.goOn()
			}()
			return
		}
	}
	v.goOn()
}

// goOn waits for the next look, if the exchange has not ended.
func (v *vigil) goOn() {
	v.heard = v.u.Answers()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.out != nil {
		v.ep.Vigils().Set(&v.next, v, v.ep.Timeouts.Quiet)
	}
}

// sign is what asks for a sign of life, nil once the exchange has ended.
func (v *vigil) sign() *exchange.Request {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.out == nil:
		return nil
	case v.anew != nil:
		return signOfLife(v.anew())
	}
	return signOfLife(v.out)
}

// Unburden has whoever watches over the answer with this body let go of the request that was sent: anew makes another one like
// it, if one is needed, as long as the body is not closed. It may be called from any goroutine.
func Unburden(body io.Closer, anew func() *exchange.Request) {
	v, ok := body.(*vigil)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.out != nil {
		v.out, v.anew = &unburdened, anew
	}
}

var unburdened exchange.Request // in place of those that were let go of

// ask asks the upstream for a sign of life.
func (v *vigil) ask(sign *exchange.Request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(v.ctx), signTime)
	defer cancel()
	if response, err := v.ep.Send(ctx, v.u, sign, Terms{Wait: signTime}); err == nil {
		response.Body.Close()
	}
}

// abandonedAfter is how long a client must have waited in vain for its departure to say
// something of the upstream.
const abandonedAfter = 2 * time.Second

// Abandoned notes that the client of a request left before any answer: where all of them are
// less patient than berth, nobody else notices that the upstream froze.
func (s Sender) Abandoned(ctx context.Context, u *routing.Upstream, out *exchange.Request, waited time.Duration) {
	if u.Hosted || s.Timeouts.Quiet == 0 || waited < abandonedAfter || u.Silent() {
		return
	}
	v, sign := &vigil{ctx: ctx, ep: s, u: u}, signOfLife(out)
	go u.Ping(func() { v.ask(sign) }) // for signTime at most
}

// signOfLife is a request that changes nothing, in the name, the session and the era of out.
func signOfLife(out *exchange.Request) *exchange.Request {
	sign := &exchange.Request{Method: wire.MethodPost, URL: out.URL, Host: out.Host, Header: out.Header.Clone(), Body: OwnPing(), Caller: out.Caller, Unsent: out.Unsent}
	MakeOwn(sign.Header)
	sign.Header.Del("Content-Length")
	if version := sign.Header.Get(mcp.HeaderVersion); mcp.IsModern(version) {
		discovers(sign, version)
	}
	return sign
}

// Read reads the answer's body, and notes what is heard.
func (v *vigil) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	if n > 0 {
		v.said.Store(true)
	}
	return n, err
}

// Wait implements wire.Waiter, if the answer's body does.
func (v *vigil) Wait() {
	if body, ok := v.ReadCloser.(wire.Waiter); ok {
		body.Wait()
	}
}

// Await implements wire.Waiter, if the answer's body does.
func (v *vigil) Await(ready func()) bool {
	body, ok := v.ReadCloser.(wire.Waiter)
	return ok && body.Await(ready)
}

// Close ends the vigil with the answer's body.
func (v *vigil) Close() error {
	v.end()
	return v.ReadCloser.Close()
}
