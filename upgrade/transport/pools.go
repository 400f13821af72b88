package transport

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"berth/routing"
	"berth/upgrade/task"
)

// Destination is a pool that held calls are sent to.
type Destination struct {
	Routing   *routing.Pool
	Transport Transport

	// OwnCredentials says that berth itself authorises what goes there, so that a call can
	// be sent without its client's headers.
	OwnCredentials bool

	// Tied reports whether what runs at an upstream lives in a session of this process's, and is
	// lost with it. nil: nothing does.
	Tied func(u *routing.Upstream) bool

	left bool // it is there for calls that it had
}

// Pools are where the calls of this process are sent. Its methods may be called concurrently.
type Pools struct {
	byName atomic.Pointer[map[string]*Destination] // what it points to does not change
	log    *slog.Logger
}

// New returns these pools.
func New(pools []Destination, log *slog.Logger) *Pools {
	p := &Pools{log: log}
	p.Set(pools)
	return p
}

// Set has calls be sent to these pools from now on. One that is not among them stays for what is
// under way there.
func (p *Pools) Set(pools []Destination) {
	next := map[string]*Destination{}
	if before := p.byName.Load(); before != nil {
		for name, pool := range *before {
			left := *pool
			left.left = true
			next[name] = &left
		}
	}
	for _, pool := range pools {
		next[pool.Routing.Name()] = &pool
	}
	p.byName.Store(&next)
}

// Get returns the pool with this name, also one that has left; nil if there was none.
func (p *Pools) Get(name string) *Destination { return (*p.byName.Load())[name] }

// Current are those that calls may be taken on to, in no order.
func (p *Pools) Current() (current []*Destination) {
	for _, pool := range *p.byName.Load() {
		if !pool.left {
			current = append(current, pool)
		}
	}
	return current
}

// TakesOn reports whether calls to the pool with this name may be taken on.
func (p *Pools) TakesOn(name string) bool {
	pool := p.Get(name)
	return pool != nil && !pool.left
}

// Upstream returns the upstream that a task's round went to; nil if that is not in the
// pool any more.
func (p *Pools) Upstream(t *task.Task) *routing.Upstream {
	pool := p.Get(t.Pool)
	if pool == nil {
		return nil
	}
	return pool.Routing.Find(t.Upstream)
}

// Owner is Upstream for what is to be done there: berths may know of the upstream where others look, as of one that has left this
// berth's source or file.
func (p *Pools) Owner(ctx context.Context, t *task.Task) *routing.Upstream {
	pool := p.Get(t.Pool)
	if pool == nil {
		return nil
	}
	return pool.Routing.Owner(ctx, t.Upstream)
}

// Tell posts a notification or a response with all that a task's call c bears beside its
// body. It reports whether the upstream has taken it.
func (p *Pools) Tell(ctx context.Context, t *task.Task, c *task.Call, body []byte) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellUpstream)
	defer cancel()
	pool, u := p.Get(t.Pool), p.Owner(ctx, t)
	if u == nil || pool.Transport.Tell == nil {
		return false
	}
	c.Body = body
	if err := pool.Transport.Tell(ctx, u, c); err != nil {
		p.log.Debug("an upstream could not be told", "upstream", u.Name, "error", err)
		return false
	}
	return true
}

// tellUpstream bounds what telling an upstream something may hold a call up.
const tellUpstream = 2 * time.Second
