package exchange

import (
	"context"
	"sync"
	"time"
)

// unwatched is how long an exchange goes on before somebody watches whether its context has
// ended: most are over by then, and cost no watch.
const unwatched = 5 * time.Millisecond

// patience ends an exchange with its context, and if its answer's headers take too long.
type patience struct {
	ctx    context.Context // whose end ends the exchange
	cancel context.CancelCauseFunc

	mu      sync.Mutex // guards the fields below
	timer   *time.Timer
	step    time.Duration // that timer is set to
	wait    time.Duration // what is left of the time for the headers when timer was set; 0: any time
	state   waiting
	unwatch func() bool // ends the watch over ctx; nil: there is none
}

type waiting uint8

const (
	forHeaders waiting = iota
	tooLong            // the headers took too long
	forBody            // they are here
	over
)

// start returns the context of an exchange that begins.
func (p *patience) start(ctx context.Context, wait time.Duration) context.Context {
	own, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	p.ctx, p.cancel, p.wait = ctx, cancel, wait
	if ctx.Err() != nil {
		cancel(context.Cause(ctx))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.step = unwatched; wait > 0 {
		p.step = min(p.step, wait)
	}
	p.timer = time.AfterFunc(p.step, p.tick)
	return own
}

// tick begins the watch over the context, and ends the wait for headers.
func (p *patience) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unwatch == nil && p.state != over {
		p.unwatch = context.AfterFunc(p.ctx, func() { p.cancel(context.Cause(p.ctx)) })
	}
	if p.state != forHeaders || p.wait == 0 {
		return
	}
	if p.wait -= p.step; p.wait > 0 {
		p.step = p.wait
		p.timer.Reset(p.step)
		return
	}
	p.state = tooLong
	p.cancel(ErrNotInTime)
}

// inTime notes that the headers are here, or will not come, and reports whether they are not
// too late.
func (p *patience) inTime() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == tooLong {
		return false
	}
	p.state = forBody
	return true
}

// end ends the exchange.
func (p *patience) end() {
	p.mu.Lock()
	p.state = over
	p.timer.Stop()
	if p.unwatch != nil {
		p.unwatch()
	}
	p.mu.Unlock()
	p.cancel(nil)
}
