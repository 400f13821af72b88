package sticky

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
)

// writeBackEvery is how often bindings made during an outage are offered to the
// store. Together with the store's own probing it keeps the promise that they are
// shared within two seconds of its recovery.
const writeBackEvery = 500 * time.Millisecond

// Run writes updates and write-backs until ctx ends; then it offers what is still
// pending to the store once more and returns.
func (b *Bindings) Run(ctx context.Context) error {
	tick := time.NewTicker(writeBackEvery)
	defer tick.Stop()
	for {
		select {
		case u := <-b.updates:
			if err := b.apply(ctx, u); err != nil {
				b.log.Debug("a binding could not be refreshed", "kind", string(u.kind), "error", err)
			}
		case <-tick.C:
			b.writeBack(ctx)
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

func (b *Bindings) wakeUp() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Pending returns how many bindings wait for the store.
func (b *Bindings) Pending() int { return b.pending.len() }

// writeBack offers the pending bindings to the store and stops at the first that
// it does not take.
func (b *Bindings) writeBack(ctx context.Context) {
	if b.pending.len() == 0 || !b.store.Healthy() {
		return
	}
	written := 0
	for name, binding := range b.pending.snapshot() {
		if err := b.writeBackOne(ctx, name, binding); err != nil {
			if !errors.Is(err, storage.ErrUnavailable) {
				b.log.Warn("a binding could not be written back", "error", err)
			}
			break
		}
		written++
	}
	if written > 0 {
		b.log.Info("bindings made while the store was away are written back", "count", written, "left", b.pending.len())
	}
}

// writeBackOne gives one binding to the store. An owner that stands there
// already wins.
func (b *Bindings) writeBackOne(ctx context.Context, name string, binding Binding) error {
	life := time.Until(binding.Expires)
	if life <= 0 {
		b.pending.remove(name)
		return nil
	}
	record, created, err := b.store.PutIfAbsent(ctx, name, binding.encode(), life)
	if err != nil {
		return err
	}
	outcome := outcomeWrittenBack
	if !created {
		if standing, err := decode(record.Value); err == nil && standing.Upstream != binding.Upstream {
			b.log.Warn("another berth bound the same id to another upstream first",
				"ours", binding.Upstream, "owner", standing.Upstream)
			b.near.remove(name)
			outcome = outcomeCollision
		}
	}
	b.pending.remove(name)
	b.metrics.bound(ctx, Task, outcome)
	return nil
}
