package peers

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"berth/upgrade/ledger"
)

// Open counts the tasks of a store that no other process shares, and sees to those that
// another process held. The error wraps storage.ErrUnavailable.
func (p *Peers) Open(ctx context.Context) error {
	if !p.ledger.Alone() {
		return nil
	}
	if err := p.ledger.CountAll(ctx); err != nil {
		return err
	}
	holders, err := p.ledger.Store.Members(ctx, p.ledger.Lists.Holders())
	for _, holder := range holders {
		left, unlisted := p.ledger.Store.Members(ctx, p.ledger.Lists.TasksOf(holder))
		err = errors.Join(err, unlisted)
		if unlisted == nil {
			err = errors.Join(err, p.reapAll(ctx, holder, left, false))
		}
	}
	return errors.Join(err, p.ledger.Lease.Renew(ctx))
}

// Run keeps this process known as a holder, hears what others tell, and beats, until ctx ends.
func (p *Peers) Run(ctx context.Context) error {
	p.ledger.Store.OnRecover(p.recovered)
	var loops sync.WaitGroup
	loops.Go(func() { p.listen(ctx) })
	loops.Go(func() { p.keepLease(ctx) })
	loops.Go(func() { p.keepBeating(ctx) })
	loops.Go(func() { p.takeOver(ctx) })
	loops.Go(func() { p.strays.each(ctx, func(about string) { p.answerFor(ctx, about) }) })
	loops.Wait()
	return nil
}

// listen hears what others tell. A connection that is lost, and comes back, may be one to a
// server that has started anew since, or to another one, so quickly that no operation
// failed: it may have lost what it held.
func (p *Peers) listen(ctx context.Context) {
	begun := false
	_ = p.ledger.Store.Watch(ctx, ledger.Topic, func(message string) { // it ends with ctx
		if message == "" && begun && p.ledger.Store.Shared() {
			p.recovered()
		}
		begun = true
		p.heard(ctx, message)
	})
}

// recovered is told when the store is back. What it has lost meanwhile, its holders put
// back.
func (p *Peers) recovered() {
	p.ledger.Epoch.Return()
	p.ledger.Epoch.WakeBeat()
	ledger.Signal(p.ledger.Epoch.Renewal) // leases have run out, or are about to
}

func (p *Peers) keepBeating(ctx context.Context) {
	tick := time.NewTicker(p.ledger.Epoch.Beat())
	defer tick.Stop()
	reaper := &reaper{p: p, silences: p.ledger.Silences(), missed: map[string]int{}}
	again := false
	for {
		p.pulse(ctx, again)
		reaper.look(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			again = false
		case <-p.ledger.Epoch.Woken:
			again = true
		}
	}
}

// pulse is one beat. After an outage, and when the store has lost something, it puts back
// whatever else is lost.
func (p *Peers) pulse(ctx context.Context, after bool) {
	_ = p.ledger.IDs.Refresh(ctx)   // the known secret is good until another is seen
	_ = p.ledger.Clock.Refresh(ctx) // so is what the store said last
	if p.ledger.Store.Shared() && p.ledger.Epoch.CheckInTime(ctx) != nil {
		return // the store is away
	}
	p.ledger.Epoch.Recognise(ctx)
	select {
	case <-p.ledger.Epoch.Woken: // by what was just found out
		after = true
	default:
	}
	p.runner.PutAllBack(ctx, after)
	p.lookAtChanges(ctx)
	p.ledger.Backlog.Work(ctx)
	p.settleAll(ctx)
	p.reconcile(ctx)
	p.seeToMet(ctx)
	p.runner.KeepAllAsking(ctx)
}

// keepLease renews the lease with each beat, whatever else a beat has to do.
func (p *Peers) keepLease(ctx context.Context) {
	tick := time.NewTicker(p.ledger.Epoch.Beat())
	defer tick.Stop()
	for {
		err := p.ledger.Lease.Renew(ctx)
		if err != nil {
			// The store may serve reads all the same, as one does whose memory is full: then
			// leases of others run out that nobody could renew.
			p.ledger.Epoch.Lose()
		}
		if errors.Is(err, ledger.ErrLeaseLost) {
			p.ledger.Epoch.WakeBeat()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-p.ledger.Epoch.Renewal:
		}
	}
}

// lookAtChanges looks at the tasks that others have changed.
func (p *Peers) lookAtChanges(ctx context.Context) {
	changed, err := p.ledger.Store.Members(ctx, p.ledger.Lists.ChangesFor(p.ledger.Holder))
	if err != nil {
		return
	}
	for _, id := range changed {
		p.runner.LookAt(ctx, id)
		p.ledger.Lists.Remove(ctx, p.ledger.Lists.ChangesFor(p.ledger.Holder), id)
	}
}

// heard acts on what a berth has told.
func (p *Peers) heard(ctx context.Context, message string) {
	from, about, ok := strings.Cut(message, " ")
	switch {
	case !ok:
		p.ledger.Notices.WakeAll()
		p.lookAtChanges(ctx)
	case from == p.ledger.Holder:
	default:
		for one := range strings.FieldsSeq(about) {
			if id, left := strings.CutPrefix(one, leftPrefix); left {
				p.left.add(leftTask{from, id})
				continue
			}
			if p.isAsked(one) {
				p.strays.add(one)
				continue
			}
			p.ledger.Notices.Wake(one)
			p.runner.LookAt(ctx, one)
			p.runner.Recount(ctx, one)
		}
	}
}
