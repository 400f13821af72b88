package peers

import (
	"context"
	"slices"
	"time"

	"berth/upgrade/ledger"
)

// leftPrefix begins the name under which berths are told of a task whose holder goes.
const leftPrefix = "left:"

const (
	// handOverEvery is how often it is looked what can be handed over, and what was not taken.
	handOverEvery = 250 * time.Millisecond

	// adoptersTime bounds how long a process that holds nothing any more waits for what it has left to be
	// taken, and adoptersEvery how often it looks. What is not taken by then is found by a beat.
	adoptersTime, adoptersEvery = 2 * time.Second, 50 * time.Millisecond
)

// HandOver leaves to others what they can go on with, and tells them until somebody has taken it,
// for as long as ctx lives. Nothing is left where nobody else stands. What is not taken then is
// found by whoever finds this process gone. Call it once nothing more is taken on.
func (p *Peers) HandOver(ctx context.Context) {
	if !p.ledger.Store.Shared() {
		return
	}
	go p.runner.SeekUpstreams(ctx)
	tick := time.NewTicker(handOverEvery)
	defer tick.Stop()
	for untaken := 0; ; {
		if some := p.runner.MayHandOver(); (len(some)+untaken > 0 || p.runner.Calls.Size() > 0) && p.hasOther(ctx) {
			p.leaves.Store(true)
			p.runner.Part()
			p.runner.HandOver(ctx, some)
			untaken = p.tellOfLeft(ctx) + len(some) // these may not have been let go of yet
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// AwaitAdopters waits, for a moment, until others have taken what this process has left.
func (p *Peers) AwaitAdopters(ctx context.Context) {
	if !p.leaves.Load() || !p.hasOther(ctx) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, adoptersTime)
	defer cancel()
	for p.tellOfLeft(ctx) > 0 && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-time.After(adoptersEvery):
		}
	}
}

// hasOther reports whether another holder stands.
func (p *Peers) hasOther(ctx context.Context) bool {
	holders, _ := p.ledger.Store.Members(ctx, p.ledger.Lists.Holders()) // none, and it is asked again
	return slices.ContainsFunc(holders, func(holder string) bool {
		if holder == p.ledger.Holder {
			return false
		}
		stands, _ := p.ledger.Lists.Stands(ctx, holder)
		return stands
	})
}

// tellOfLeft tells of what is listed as this process's, and is not held any more, nor about to be. Who takes a
// task over takes it from that list; the rest is untaken.
func (p *Peers) tellOfLeft(ctx context.Context) (untaken int) {
	listed, _ := p.ledger.Store.Members(ctx, p.ledger.Lists.TasksOf(p.ledger.Holder)) // none, and it is told again
	listed = slices.DeleteFunc(listed, func(id string) bool { return p.runner.Calls.Has(id) })
	names := make([]string, len(listed))
	for i, id := range listed {
		names[i] = leftPrefix + id
	}
	p.ledger.Notices.TellEach(ctx, names)
	return len(listed)
}

// leftTask is a task that a holder has told that it left.
type leftTask struct{ from, id string }

// takeOver goes on with what others leave, until ctx ends.
func (p *Peers) takeOver(ctx context.Context) {
	p.left.each(ctx, func(one leftTask) { p.takeLeft(ctx, one) })
}

// takeLeft goes on with a task whose holder has left it, if this berth can; else another may. What
// it finds ended is taken down.
func (p *Peers) takeLeft(ctx context.Context, one leftTask) {
	ctx, cancel := ledger.Bounded(ctx)
	defer cancel()
	if busy, err := p.runner.Calls.TryClaim(one.id); busy != nil || err != nil {
		return
	}
	defer p.runner.Calls.Unclaim(one.id)
	e, err := p.ledger.Records.Get(ctx, one.id)
	switch {
	case err != nil:
		return
	case e.Holder != one.from:
		if p.cleanUp(ctx, e.Task) != nil {
			return
		}
	case !e.Left, e.Waiting() && !p.canSend(e.Task):
		return
	default:
		if done, _ := p.heal(ctx, e); done {
			return
		}
		c, err := p.adopter(ctx, e.Task)
		if c == nil || err != nil || p.adopt(ctx, e, c) != nil || p.runner.Calls.Get(one.id) == nil {
			return
		}
		p.release(ctx, e.Task, one.from)
	}
	_ = p.ledger.Store.RemoveMember(ctx, p.ledger.Lists.TasksOf(one.from), one.id) // or whoever is told next
}
