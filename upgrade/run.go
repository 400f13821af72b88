package upgrade

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
)

// Open does what must be done before clients are served: of a store that no other process
// shares, every task that stands is counted, and every one that another process held is seen
// to. Call it once, before Run. The
// error wraps storage.ErrUnavailable.
func (t *Tasks) Open(ctx context.Context) error {
	if !t.alone() {
		return nil
	}
	if err := t.countAll(ctx); err != nil {
		return err
	}
	holders, err := t.store.Members(ctx, t.lists.holders())
	for _, holder := range holders {
		left, unlisted := t.store.Members(ctx, t.lists.tasksOf(holder))
		err = errors.Join(err, unlisted)
		if unlisted == nil {
			err = errors.Join(err, t.reap(ctx, holder, left))
		}
	}
	return errors.Join(err, t.lease.renew(ctx))
}

// Run keeps this process known as a holder, hears what others tell, and sees to the tasks
// of those that died, until ctx ends. Held calls outlive it: see Drain.
func (t *Tasks) Run(ctx context.Context) error {
	t.store.OnRecover(t.recovered)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		t.listen(ctx)
		return nil
	})
	group.Go(func() error {
		t.keepLease(ctx)
		return nil
	})
	group.Go(func() error {
		t.keepBeating(ctx)
		return nil
	})
	return group.Wait()
}

// listen hears what others tell. A connection that is lost, and comes back, may be one to a
// server that has started anew since, or to another one, so quickly that no operation
// failed: it may have lost what it held.
func (t *Tasks) listen(ctx context.Context) {
	begun := false
	_ = t.store.Watch(ctx, topic, func(message string) { // it ends with ctx
		if message == "" && begun && t.store.Shared() {
			t.recovered()
		}
		begun = true
		t.heard(ctx, message)
	})
}

// recovered is told when the store is back. What it has lost meanwhile, its holders put
// back.
func (t *Tasks) recovered() {
	t.trust.lose()
	t.trust.doubt(t.settling())
	t.wakeBeat()
	signal(t.renewal) // leases have run out, or are about to
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

// pulse is one beat. After an outage, and when the store has lost something, it puts back
// whatever else is lost.
func (t *Tasks) pulse(ctx context.Context, after bool) {
	_ = t.ids.refresh(ctx)   // the known secret is good until another is seen
	_ = t.clock.refresh(ctx) // so is what the store said last
	if t.store.Shared() && t.checkEpochInTime(ctx) != nil {
		return // the store is away
	}
	select {
	case <-t.woken: // by what was just found out
		after = true
	default:
	}
	t.putAllBack(ctx, after)
	t.lookAtMail(ctx)
	t.backlog.work(ctx)
	t.settleAll(ctx)
	t.reconcile(ctx)
	t.keepAllAsking(ctx)
}

// keepLease renews the lease with each beat, whatever else a beat has to do.
func (t *Tasks) keepLease(ctx context.Context) {
	tick := time.NewTicker(t.beat())
	defer tick.Stop()
	for {
		err := t.lease.renew(ctx)
		if err != nil {
			// The store may serve reads all the same, as one does whose memory is full: then
			// leases of others run out that nobody could renew.
			t.trust.lose()
		}
		if errors.Is(err, errLeaseLost) {
			t.wakeBeat()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-t.renewal:
		}
	}
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
