package runner

import (
	"berth/routing"
	"berth/upgrade/task"
)

// Pool is where held calls are sent.
type Pool struct {
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

// SetPools has calls be sent to these pools from now on. One that is not among them stays for what is
// under way there.
func (r *Runner) SetPools(pools []Pool) {
	next := map[string]*Pool{}
	if before := r.pools.Load(); before != nil {
		for name, pool := range *before {
			left := *pool
			left.left = true
			next[name] = &left
		}
	}
	for _, pool := range pools {
		next[pool.Routing.Name()] = &pool
	}
	r.pools.Store(&next)
}

// Pool returns the pool with this name, also one that has left; nil if there was none.
func (r *Runner) Pool(name string) *Pool { return (*r.pools.Load())[name] }

// TakesOn reports whether calls to the pool with this name may be taken on.
func (r *Runner) TakesOn(name string) bool {
	pool := r.Pool(name)
	return pool != nil && !pool.left
}

// upstreamOf returns the upstream that a task's round went to; nil if that is not in the
// pool any more.
func (r *Runner) upstreamOf(t *task.Task) *routing.Upstream {
	pool := r.Pool(t.Pool)
	if pool == nil {
		return nil
	}
	return pool.Routing.Find(t.Upstream)
}
