package runner

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// Standing returns the record as this process last saw it, with its version.
func (h *Held) Standing() ledger.Entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entry
}

// record is the record as this process last saw it. It is not to be changed: whoever waits holds
// on to it, and does not have a copy on a stack that lives as long as the call.
func (h *Held) record() *task.Task {
	h.mu.Lock()
	t := h.entry.Task // nothing between the two panics, and nothing is asked for as often
	h.mu.Unlock()
	return t
}

// ChangesAlone reports whether the record changes by the steps of this holder alone, where no other process
// sees the store: what a legacy call asks is settled past it.
func (h *Held) ChangesAlone() bool { return h.record().Call == "" }

// step takes one step, and keeps what the record is then.
func (h *Held) step(ctx context.Context, op *task.Op) (ledger.Entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stepLocked(ctx, op)
}

func (h *Held) stepLocked(ctx context.Context, op *task.Op) (ledger.Entry, error) {
	return h.stepAmid(ctx, op, new(ledger.Amid))
}

func (h *Held) stepAmid(ctx context.Context, op *task.Op, amid *ledger.Amid) (ledger.Entry, error) {
	began := time.Now()
	e, err := h.l.Records.ApplyAmid(ctx, h.entry, op, amid)
	repaired, failed := h.repair(ctx, e, err)
	if failed != nil {
		return e, failed // what is lost for now is not lost for good
	}
	if repaired {
		e, err = h.l.Records.ApplyAmid(ctx, h.entry, op, amid)
	}
	if err == nil || errors.Is(err, task.ErrTerminal) || errors.Is(err, task.ErrStale) {
		h.entry, h.sure = e, began
	}
	return e, err
}

// insist takes a step as soon as the store takes it. It ends with the call, or with the
// life of the task.
func (h *Held) insist(ctx context.Context, take func(ctx context.Context) error) error {
	if err := take(ctx); !passes(ctx, err) {
		return err
	}
	ctx, cancel := context.WithDeadline(ctx, h.Expires.Add(ledger.Spare)) // of which it can still say that time was up
	defer cancel()
	return untilTaken(ctx, take)
}

// passes reports whether what a step has failed with may be over another time.
func passes(ctx context.Context, err error) bool {
	late := errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil // of the step: the process may have been frozen
	return late || errors.Is(err, storage.ErrUnavailable)
}

// untilTaken takes a step every retryStore until the store takes it.
func untilTaken(ctx context.Context, take func(ctx context.Context) error) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(retryStore):
		}
		if err := take(ctx); !passes(ctx, err) {
			return err
		}
	}
}

// retryStore is how often a step is tried again that the store did not take. With the
// store's own probing it keeps the promise that results are on all berths within two
// seconds of its return.
const retryStore = 250 * time.Millisecond

// must takes a step of the round as soon as the store takes it.
func (h *Held) must(ctx context.Context, op *task.Op) error {
	err := h.insist(ctx, func(ctx context.Context) error {
		_, err := h.step(ctx, op)
		return err
	})
	if errors.Is(err, task.ErrTerminal) || errors.Is(err, task.ErrStale) {
		return errFenced
	}
	if err != nil {
		return h.round.cause(ctx, err)
	}
	return nil
}

// repaired counts how often the record was put right, or was to be.
func (h *Held) repaired() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.repairs
}
