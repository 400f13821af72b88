package sticky

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"berth/internal/storage"
	"berth/sticky/binding"

	"golang.org/x/sync/errgroup"
)

// writeBackAtOnce is how many are offered at a time: one after another, a
// millisecond each, a long outage would take minutes to make good.
const writeBackAtOnce = 16

// inPortions has write take in all that some hands out, a portion at once and the next one after it, until it
// fails. It must have some hand out what it has written no more.
func inPortions[T any](some func(n int) []T, write func(T) error) error {
	for {
		portion := some(writeBackAtOnce)
		if len(portion) == 0 {
			return nil
		}
		var group errgroup.Group // one that is refused for a reason of its own keeps none of the others back
		for _, one := range portion {
			group.Go(func() error { return write(one) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
}

// someOf returns at most n values, any.
func someOf[K comparable, V any](all map[K]V, n int) (out []V) {
	for _, value := range all {
		if len(out) == n {
			break
		}
		out = append(out, value)
	}
	return out
}

// writeBack gives the store what was bound while it was away.
type writeBack struct {
	local      *local
	records    *records
	rolls      *rolls
	handshakes handshakes
	forgotten  *forgotten
	metrics    *metrics
	log        *slog.Logger
}

// all offers what is pending to the store until it refuses something. Who sees that a session's handshake is kept is to find it.
func (w *writeBack) all(ctx context.Context) {
	before := w.local.pending.len()
	if before == 0 && w.handshakes.pending.len() == 0 || !w.records.store.Healthy() {
		return
	}
	err := inPortions(w.handshakes.pending.some, func(h pendingHandshake) error { return w.handshakes.writeBack(ctx, h) })
	if err == nil {
		err = inPortions(w.local.pending.some, func(e entry) error { return w.one(ctx, e) })
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
		w.log.Warn("a binding could not be written back", "error", err)
	}
	if left := w.local.pending.len(); left < before {
		w.log.Info("bindings made while the store was away are written back", "count", before-left, "left", left)
	}
}

// one gives one binding to the store. An owner that stands there
// already wins.
func (w *writeBack) one(ctx context.Context, e entry) error {
	if time.Until(e.binding.Expires) <= 0 {
		w.local.pending.settle(e)
		return nil
	}
	now := e
	standing, written, _, err := w.records.establish(ctx, &now)
	if err != nil {
		return err
	}
	outcome := outcomeWrittenBack
	switch {
	case !written && e.taken(standing):
		theirs, _ := binding.Decode(standing.Value) // it is taken by what could be read
		what := "another berth bound the same id to another upstream first"
		if theirs.Principal != e.binding.Principal { // of a claim
			what = "another berth knows the same id as another principal's"
		}
		w.log.Warn(what, "kind", string(e.key.Kind), "ours", e.binding.Upstream, "theirs", theirs.Upstream)
		w.local.near.Remove(e.key)
		outcome = outcomeCollision
	case now.counts == countsNoMore:
		w.local.refresh(&now)
	case written || !countsNot(standing):
		w.rolls.add(ctx, e)
	}
	if settled := w.local.pending.settle(e); !settled && written && w.forgotten.has(e.key) { // it was unbound meanwhile
		e.counts = countsGone
		w.rolls.owing.add(e)
	}
	w.metrics.bound(e.key.Kind, outcome)
	return nil
}
