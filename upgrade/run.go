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
func (p *Peers) Open(ctx context.Context) error {
	if !p.ledger.alone() {
		return nil
	}
	if err := p.ledger.countAll(ctx); err != nil {
		return err
	}
	holders, err := p.ledger.store.Members(ctx, p.ledger.lists.holders())
	for _, holder := range holders {
		left, unlisted := p.ledger.store.Members(ctx, p.ledger.lists.tasksOf(holder))
		err = errors.Join(err, unlisted)
		if unlisted == nil {
			err = errors.Join(err, p.reapAll(ctx, holder, left))
		}
	}
	return errors.Join(err, p.ledger.lease.renew(ctx))
}

// Run keeps this process known as a holder, hears what others tell, and sees to the tasks
// of those that died, until ctx ends. Held calls outlive it: see Drain.
func (p *Peers) Run(ctx context.Context) error {
	p.ledger.store.OnRecover(p.recovered)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		p.listen(ctx)
		return nil
	})
	group.Go(func() error {
		p.keepLease(ctx)
		return nil
	})
	group.Go(func() error {
		p.keepBeating(ctx)
		return nil
	})
	return group.Wait()
}

// listen hears what others tell. A connection that is lost, and comes back, may be one to a
// server that has started anew since, or to another one, so quickly that no operation
// failed: it may have lost what it held.
func (p *Peers) listen(ctx context.Context) {
	begun := false
	_ = p.ledger.store.Watch(ctx, noticesTopic, func(message string) { // it ends with ctx
		if message == "" && begun && p.ledger.store.Shared() {
			p.recovered()
		}
		begun = true
		p.heard(ctx, message)
	})
}

// recovered is told when the store is back. What it has lost meanwhile, its holders put
// back.
func (p *Peers) recovered() {
	p.ledger.epoch.lose()
	p.ledger.epoch.distrustFor(p.ledger.epoch.settling())
	p.ledger.epoch.wakeBeat()
	signal(p.ledger.epoch.renewal) // leases have run out, or are about to
}

func (e *epoch) wakeBeat() { signal(e.woken) }

func (p *Peers) keepBeating(ctx context.Context) {
	tick := time.NewTicker(p.ledger.epoch.beat())
	defer tick.Stop()
	reaper := newReaper(p)
	again := false
	for {
		p.pulse(ctx, again)
		reaper.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			again = false
		case <-p.ledger.epoch.woken:
			again = true
		}
	}
}

// pulse is one beat. After an outage, and when the store has lost something, it puts back
// whatever else is lost.
func (p *Peers) pulse(ctx context.Context, after bool) {
	_ = p.ledger.ids.Refresh(ctx)   // the known secret is good until another is seen
	_ = p.ledger.clock.refresh(ctx) // so is what the store said last
	if p.ledger.store.Shared() && p.ledger.epoch.checkInTime(ctx) != nil {
		return // the store is away
	}
	select {
	case <-p.ledger.epoch.woken: // by what was just found out
		after = true
	default:
	}
	p.runner.putAllBack(ctx, after)
	p.lookAtChanges(ctx)
	p.ledger.backlog.work(ctx)
	p.settleAll(ctx)
	p.reconcile(ctx)
	p.runner.keepAllAsking(ctx)
}

// keepLease renews the lease with each beat, whatever else a beat has to do.
func (p *Peers) keepLease(ctx context.Context) {
	tick := time.NewTicker(p.ledger.epoch.beat())
	defer tick.Stop()
	for {
		err := p.ledger.lease.renew(ctx)
		if err != nil {
			// The store may serve reads all the same, as one does whose memory is full: then
			// leases of others run out that nobody could renew.
			p.ledger.epoch.lose()
		}
		if errors.Is(err, errLeaseLost) {
			p.ledger.epoch.wakeBeat()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-p.ledger.epoch.renewal:
		}
	}
}

// lookAtChanges looks at the tasks that others have changed.
func (p *Peers) lookAtChanges(ctx context.Context) {
	mail, err := p.ledger.store.Members(ctx, p.ledger.lists.changesFor(p.ledger.holder))
	if err != nil {
		return
	}
	for _, id := range mail {
		p.runner.lookAt(ctx, id)
		p.ledger.lists.remove(ctx, p.ledger.lists.changesFor(p.ledger.holder), id)
	}
}
