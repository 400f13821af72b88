package runner

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// Settle notes that the upstream has the answer to an ask. What the store does not take
// now is noted once it does: until then the ask may be shown once more, which does no
// harm.
func (r *Runner) Settle(ctx context.Context, of string, id []byte) {
	ctx, cancel := ledger.Bounded(context.WithoutCancel(ctx))
	defer cancel()
	op := r.ledger.Op(task.Settle)
	op.Key = mcp.IDKey(id)
	r.ledger.Backlog.Do(ctx, func(ctx context.Context) error { return r.settleAsk(ctx, of, op) })
}

// SettleIn is Settle for whichever task waits, in the session that BehindKey names, for
// the response with this raw id. If none does, or the store cannot say and later knows of
// none, nothing is noted. ctx bounds what the caller waits for that.
func (r *Runner) SettleIn(ctx context.Context, behind string, id []byte) {
	op := r.ledger.Op(task.Settle)
	op.Key = mcp.IDKey(id)
	r.ledger.Backlog.Do(ctx, func(ctx context.Context) error {
		of, err := r.ledger.Asks.Waiting(ctx, behind, id)
		if err == nil && of == "" {
			err = r.ledger.Epoch.Miss(ctx) // it may have been lost, and be put back
		}
		switch {
		case errors.Is(err, ledger.ErrUnknown):
			return nil
		case err != nil:
			return err
		}
		return r.settleAsk(ctx, of, op)
	})
}

func (r *Runner) settleAsk(ctx context.Context, id string, op *task.Op) error {
	e, err := r.ledger.Records.Get(ctx, id)
	if err == nil { // and not from what a holder knows: it may be the holder no more
		e, err = r.ledger.Records.Apply(ctx, e, op)
	}
	if errors.Is(err, ledger.ErrUnknown) {
		err = r.ledger.Epoch.Miss(ctx)
	}
	if errors.Is(err, ledger.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	r.LookAt(ctx, id)
	r.ledger.Notices.Changed(ctx, e.Task)
	if err := r.ledger.Asks.Remove(ctx, e.Task, op.Key); err != nil {
		return err
	}
	if e.Did(op.ID) {
		r.Metrics.Question(ctx, "settled")
	}
	return nil
}
