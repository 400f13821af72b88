package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// end is how far the proxy has come with its own end, and what is still under way.
type end struct {
	draining    chan struct{} // closed by Drain
	drainOnce   sync.Once
	releasing   chan struct{} // closed by ReleaseWaiters
	releaseOnce sync.Once
	cutting     chan struct{} // closed by Cut
	cutOnce     sync.Once
	serving     atomic.Int64 // requests under way
}

func newEnd() *end {
	return &end{draining: make(chan struct{}), releasing: make(chan struct{}), cutting: make(chan struct{})}
}

// Drain ends the streams that would never end by themselves: subscriptions with
// their completion result, standing GET streams with the end of their body. Calls
// and their streams go on; answers that begin from now on close their connections, so that
// a client does not write to one that is about to be closed. It may be called more than
// once.
func (p *Proxy) Drain() {
	p.end.drainOnce.Do(func() {
		close(p.end.draining)
		p.standing.Drain()
	})
}

// ReleaseWaiters ends what waits for the end of a task of berth's own making: with an error that
// says that it can be asked for again. Call it when what Drain leaves has no time left. It
// may be called more than once.
func (p *Proxy) ReleaseWaiters() { p.end.releaseOnce.Do(func() { close(p.end.releasing) }) }

// Cut says that the connections of what is still under way are about to be closed, so that
// each such request is reported as cut by berth, and not as left by its client. It may be
// called more than once.
func (p *Proxy) Cut() { p.end.cutOnce.Do(func() { close(p.end.cutting) }) }

// Serving is how many requests are under way.
func (p *Proxy) Serving() int64 { return p.end.serving.Load() }

// Streams is how many of these stand, like subscriptions.
func (p *Proxy) Streams() int64 { return p.gate.Streams() }

// Wait waits until no request is under way, and each has left its access record, or until
// ctx ends.
func (p *Proxy) Wait(ctx context.Context) {
	const interval = 5 * time.Millisecond // it is the end of the process, and short
	for p.end.serving.Load() > 0 && ctx.Err() == nil {
		time.Sleep(interval)
	}
}

// isClosed reports whether a channel that nobody sends on was closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
