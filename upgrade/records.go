package upgrade

import (
	"context"
	"errors"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// records finds the records of tasks, in the store and with the holders of this process.
type records struct {
	ledger *ledger.Ledger
	runner *runner.Runner
}

// find returns the record of a task that is who's.
func (r records) find(ctx context.Context, id string, who task.Asker) (ledger.Entry, error) {
	e, err := r.read(ctx, id)
	if err != nil {
		return ledger.NoEntry(), err
	}
	if e.Pool != who.Pool || e.Principal != who.Principal {
		return ledger.NoEntry(), ledger.ErrUnknown
	}
	return e, nil
}

// read returns the record of a task. While the store is away a holder answers for what it holds, and
// where nobody else changes records always.
func (r records) read(ctx context.Context, id string) (ledger.Entry, error) {
	if e, alone := r.runner.StandingAlone(id); alone {
		return e, nil
	}
	e, err := r.ledger.Read(ctx, id)
	if err == nil {
		r.ledger.Overlooked.Meet(e.Task)
	}
	if errors.Is(err, ledger.ErrUnknown) {
		err = r.ledger.Epoch.Miss(ctx)
	}
	if errors.Is(err, ledger.ErrUnknown) || errors.Is(err, storage.ErrUnavailable) {
		if h := r.runner.Calls.Get(id); h != nil {
			return h.Standing(), nil // what is held here exists, though the store has lost it
		}
	}
	return e, err
}

// ahead is what holders know of these tasks, where the store may not have been told yet: it dies with them.
func (r records) ahead(ids []string) map[string]ledger.Entry {
	if !r.ledger.Dies() {
		return nil
	}
	held := map[string]ledger.Entry{}
	for _, id := range ids {
		if e, alone := r.runner.StandingAlone(id); alone {
			held[id] = e
		}
	}
	return held
}
