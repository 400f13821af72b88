package upgrade

import (
	"context"

	"berth/upgrade/task"
)

// callOf returns the call of a task as this berth can send it without its client: with
// the envelope that was kept, or with none where the pool authorises calls itself.
func (r *Runner) callOf(ctx context.Context, t *task.Task) (*task.Call, error) {
	c, open, err := r.ledger.Records.LoadCall(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if pool := r.pools[t.Pool]; !open && (pool == nil || !pool.OwnCredentials) {
		return nil, task.ErrNoCredentials
	}
	return c, nil
}
