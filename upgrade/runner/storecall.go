package runner

import (
	"context"
	"time"

	"berth/upgrade/task"
)

// storeCall stores the call, unless it was, before somebody else may need it: a record is not to say that the task may go on
// before the store has what it goes on with.
func (h *Held) storeCall(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stored {
		return nil
	}
	err := h.l.Records.KeepCall(ctx, h.ID, h.call.Unpack(), time.Until(h.Expires))
	h.stored = err == nil
	return err
}

// CallOf returns the call of a task as this berth can send it without its client: with
// the envelope that was kept, or with none where the pool authorises calls itself.
func (r *Runner) CallOf(ctx context.Context, t *task.Task) (*task.Call, error) {
	c, open, err := r.LoadCall(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if pool := r.Pools.Get(t.Pool); !open && (pool == nil || !pool.OwnCredentials) {
		return nil, task.ErrNoCredentials
	}
	return c, nil
}

// LoadCall is that of Records, also of a call that its holder alone has: what would not be stored is not told.
func (r *Runner) LoadCall(ctx context.Context, id string) (c *task.Call, open bool, err error) {
	h := r.Calls.Get(id)
	if h == nil || !r.ledger.Dies() {
		return r.ledger.Records.LoadCall(ctx, id)
	}
	c = h.call.Unpack()
	if open = c.Bare || r.ledger.Records.Keys.Given(); !open {
		c.Envelope = task.Envelope{}
	}
	return c, open, nil
}
