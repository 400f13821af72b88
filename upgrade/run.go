package upgrade

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"

	"golang.org/x/sync/errgroup"
)

// farAway is longer than any process lives between two beats: an entry in the list of
// holders stays until a reaper has seen to it.
const farAway = 30 * 24 * time.Hour

// Open does what must be done before clients are served: of a store that no other process
// shares, every task that another process held is seen to. Call it once, before Run. The
// error wraps storage.ErrUnavailable.
func (t *Tasks) Open(ctx context.Context) error {
	if t.store.Shared() || !t.store.Durable() {
		return nil
	}
	holders, err := t.store.Members(ctx, t.lists.holders())
	for _, holder := range holders {
		err = errors.Join(err, t.reap(ctx, holder))
	}
	return errors.Join(err, t.renew(ctx))
}

// Run keeps this process known as a holder, hears what others tell, and sees to the tasks
// of those that died, until ctx ends. Held calls outlive it: see Drain.
func (t *Tasks) Run(ctx context.Context) error {
	t.store.OnRecover(t.recovered)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		_ = t.store.Watch(ctx, topic, func(message string) { t.heard(ctx, message) })
		return nil
	})
	group.Go(func() error {
		t.keepBeating(ctx)
		return nil
	})
	return group.Wait()
}

// recovered is told when the store is back. What it has lost meanwhile, its holders put
// back.
func (t *Tasks) recovered() {
	t.trust.doubt(t.settling())
	t.wakeBeat()
}

func (t *Tasks) wakeBeat() { signal(t.woken) }

func (t *Tasks) keepBeating(ctx context.Context) {
	tick := time.NewTicker(t.beat())
	defer tick.Stop()
	reaper := newReaper(t)
	again := false
	for {
		t.pulse(ctx, again)
		reaper.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			again = false
		case <-t.woken:
			again = true
		}
	}
}

// pulse is one beat. After an outage, and when the store has lost the lease, it puts back
// whatever else is lost.
func (t *Tasks) pulse(ctx context.Context, after bool) {
	lost := t.renew(ctx)
	if lost != nil {
		t.trust.interrupt()
	}
	if lost != nil && !errors.Is(lost, errLeaseLost) {
		return // the store is away
	}
	_ = t.ids.refresh(ctx) // the known secret is good until another is seen
	if t.store.Shared() {
		_ = t.checkEpoch(ctx)
	}
	if after || lost != nil {
		t.putAllBack(ctx)
	}
	t.lookAtMail(ctx)
	t.backlog.work(ctx)
	t.reconcile(ctx)
}

// errLeaseLost says that the store had forgotten the lease: it had run out, or was lost.
var errLeaseLost = errors.New("upgrade: the lease was lost")

// renew keeps the holder lease. It is the one heartbeat of the process, however many
// calls it holds.
func (t *Tasks) renew(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	key := t.lists.leaseOf(t.holder)
	_, err := t.store.Swap(ctx, key, t.leaseVersion, []byte(t.holder), t.lease)
	if err == nil {
		t.leaseVersion++
		return nil
	}
	first := t.leaseVersion == 0
	if errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	// In the list first: whoever sees the lease run out must find the name.
	if err := t.lists.enlist(ctx, t.lists.holders(), t.holder, farAway, 0); err != nil {
		return err
	}
	record, _, err := t.store.PutIfAbsent(ctx, key, []byte(t.holder), t.lease)
	if err != nil {
		return err
	}
	t.leaseVersion = record.Version
	if first {
		return nil
	}
	return errLeaseLost
}

// resign gives the lease up: what this process still holds is for others to see to.
func (t *Tasks) resign(ctx context.Context) {
	_ = t.store.Delete(ctx, t.lists.leaseOf(t.holder))
}

// lookAtMail looks at the tasks that others have changed.
func (t *Tasks) lookAtMail(ctx context.Context) {
	mail, err := t.store.Members(ctx, t.lists.mailOf(t.holder))
	if err != nil {
		return
	}
	for _, id := range mail {
		t.lookAt(ctx, id)
		t.lists.strike(ctx, t.lists.mailOf(t.holder), id)
	}
}
