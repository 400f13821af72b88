package runner

import (
	"context"

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
}

// upstreamOf returns the upstream that a task's round went to; nil if that is not in the
// pool any more.
func (r *Runner) upstreamOf(t *task.Task) *routing.Upstream {
	pool := r.Pools[t.Pool]
	if pool == nil {
		return nil
	}
	return pool.Routing.Find(t.Upstream)
}

// CallOf returns the call of a task as this berth can send it without its client: with
// the envelope that was kept, or with none where the pool authorises calls itself.
func (r *Runner) CallOf(ctx context.Context, t *task.Task) (*task.Call, error) {
	c, open, err := r.ledger.Records.LoadCall(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if pool := r.Pools[t.Pool]; !open && (pool == nil || !pool.OwnCredentials) {
		return nil, task.ErrNoCredentials
	}
	return c, nil
}
