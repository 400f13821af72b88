package sticky

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"

	"golang.org/x/sync/errgroup"
)

const (
	// writeBackEvery is how often bindings made during an outage are offered to the
	// store. Together with the store's own probing it keeps the promise that they
	// are shared within two seconds of its recovery.
	writeBackEvery = 500 * time.Millisecond

	// writeBackAtOnce is how many are offered at a time: one after another, a
	// millisecond each, a long outage would take minutes to make good.
	writeBackAtOnce = 16
)

// Run writes updates and write-backs until ctx ends; then it offers what is still
// pending to the store once more and returns.
func (b *Bindings) Run(ctx context.Context) error {
	tick := time.NewTicker(writeBackEvery)
	defer tick.Stop()
	for {
		select {
		case e := <-b.updates:
			if err := b.apply(ctx, e); err != nil {
				b.log.Debug("a binding could not be refreshed", "kind", string(e.key.Kind), "error", err)
			}
		case <-tick.C:
			b.writeBack(ctx)
			b.payBack(ctx)
		case <-b.wake:
			b.writeBack(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			b.writeBack(last)
			return nil
		}
	}
}

// writeBack offers the pending bindings to the store until it refuses one.
func (b *Bindings) writeBack(ctx context.Context) {
	before := b.pending.len()
	if before == 0 || !b.store.Healthy() {
		return
	}
	var err error
	for err == nil && b.pending.len() > 0 {
		var group errgroup.Group // one that is refused for a reason of its own keeps none of the others back
		for _, e := range b.pending.some(writeBackAtOnce) {
			group.Go(func() error { return b.writeBackOne(ctx, e) })
		}
		err = group.Wait()
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, storage.ErrUnavailable) {
		b.log.Warn("a binding could not be written back", "error", err)
	}
	if left := b.pending.len(); left < before {
		b.log.Info("bindings made while the store was away are written back", "count", before-left, "left", left)
	}
}

// writeBackOne gives one binding to the store. An owner that stands there
// already wins.
func (b *Bindings) writeBackOne(ctx context.Context, e entry) error {
	if time.Until(e.binding.Expires) <= 0 {
		b.pending.settle(e)
		return nil
	}
	standing, written, _, err := b.establish(ctx, e)
	if err != nil {
		return err
	}
	outcome := outcomeWrittenBack
	if written || !e.taken(standing) {
		b.listed(ctx, e)
	} else {
		b.log.Warn("another berth bound the same id to another upstream first", "kind", string(e.key.Kind), "ours", e.binding.Upstream)
		b.near.remove(e.key)
		outcome = outcomeCollision
	}
	b.pending.settle(e)
	b.metrics.bound(ctx, e.key.Kind, outcome)
	return nil
}
