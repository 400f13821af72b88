package peers

import (
	"context"
	"errors"
	"strings"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// adopter returns the call with which this berth can go on with a task of a dead holder; nil
// if it cannot, with the reason if there is one beside the holder's death.
func (p *Peers) adopter(ctx context.Context, t *task.Task) (*task.Call, error) {
	if !t.MayGoOn() || !p.runner.Pools.TakesOn(t.Pool) {
		return nil, nil
	}
	if awaited, err := p.runner.Awaited(ctx, t); !awaited || err != nil {
		return nil, err
	}
	return p.runner.CallOf(ctx, t)
}

// canSend reports whether this process has an upstream for what a task is to send.
func (p *Peers) canSend(t *task.Task) bool {
	return p.runner.Pools.TakesOn(t.Pool) && (t.Session != "" || p.runner.Pools.Get(t.Pool).Routing.TakesWork())
}

// adopt goes on with a task as its holder. The caller has claimed it.
func (p *Peers) adopt(ctx context.Context, e ledger.Entry, c *task.Call) error {
	if err := p.ledger.TakeOn(ctx, e.Task); err != nil {
		return err
	}
	place, err := p.runner.Places.Stand(ctx, e.Task)
	if err != nil {
		return err
	}
	op := p.ledger.Op(task.Adopt)
	op.Of = e.Holder
	after, err := p.ledger.Records.Apply(ctx, e, op)
	if err != nil || !p.runner.TookOver(after.Task, op) {
		p.runner.Places.StandNot(ctx, e.Task, place)
		if wasLate(err) {
			return nil
		}
		return err
	}
	p.runner.Metrics.Adopted(ctx)
	if !e.Left {
		p.runner.Metrics.NoteOrphan(e.Task, "adopted", "")
	}
	p.runner.Hold(after, c).StandAs(place).Start(nil)
	return nil
}

// wasLate reports whether a step failed since another berth was first.
func wasLate(err error) bool {
	return errors.Is(err, task.ErrTerminal) || errors.Is(err, task.ErrStale) || errors.Is(err, task.ErrState) || errors.Is(err, ledger.ErrUnknown)
}

// orphan ends a task whose holder is gone and that nobody can go on with.
func (p *Peers) orphan(ctx context.Context, e ledger.Entry, reason error) error {
	failure := task.Lost(mcp.ReasonHolderLost, "the berth that held the call is gone", e.Task)
	if reason != nil {
		failure = task.FailureOf(reason, e.Task)
	}
	op := p.ledger.Op(task.Orphan)
	op.Of, op.Message, op.Reason, op.Outcome = e.Holder, failure.Message, failure.Reason, op.ID
	op.Size = int64(len(failure.Object()))
	if err := p.ledger.Records.KeepOutcome(ctx, e.ID, op.Outcome, failure.Object(), p.ledger.Left(e.Task)); err != nil {
		return err
	}
	after, err := p.ledger.Records.Apply(ctx, e, op)
	switch {
	case errors.Is(err, task.ErrTerminal), errors.Is(err, task.ErrStale), errors.Is(err, ledger.ErrUnknown):
		p.ledger.Records.DropOutcome(ctx, e.ID, op.Outcome)
		return nil
	case err != nil:
		return err
	}
	p.runner.Metrics.Orphaned(ctx)
	p.runner.Metrics.NoteOrphan(e.Task, "failed", failure.Message)
	p.runner.Metrics.NoteLost(e.Task, failure)
	p.ledger.Notices.Changed(ctx, e.Task)
	return p.cleanUp(ctx, after.Task)
}

// release gives back the places that a holder has taken for a task. Its record tells only
// where a call was sent, which may not be known here, so all upstreams are looked at besides.
func (p *Peers) release(ctx context.Context, t *task.Task, holder string) {
	pool := p.runner.Pools.Get(t.Pool)
	if t.Terms.Slots == 0 || pool == nil {
		return
	}
	names := []string{t.Upstream}
	for _, u := range pool.Routing.Upstreams() {
		if u.Name != t.Upstream {
			names = append(names, u.Name)
		}
	}
	for _, name := range names {
		list := p.ledger.Lists.SlotsOf(t.Terms.Queue, name)
		taken, _ := p.ledger.Store.Members(ctx, list) // what stays is pruned
		for _, name := range taken {
			if strings.HasPrefix(name, ledger.PlacesOf(t.ID, holder)) {
				p.ledger.FreeSlot(ctx, list, name)
			}
		}
	}
	p.ledger.Notices.Tell(ctx, ledger.QueueTopic(t.Terms.Queue))
}

// cleanUp takes a task that nobody holds out of the lists that it has no place in. It fails
// while the store does not take what others wait for.
func (p *Peers) cleanUp(ctx context.Context, t *task.Task) error {
	if t.Holder == "" && t.Terms.Slots > 0 {
		p.ledger.Queues.Remove(ctx, t)
	}
	p.ledger.Keep(ctx, t)
	if !t.State.Terminal() {
		return nil
	}
	p.ledger.LeaveLive(ctx, t)
	if err := p.cleanUpSession(ctx, t); err != nil {
		return err
	}
	if err := p.withdraw(ctx, t); err != nil {
		return err
	}
	p.ledger.DropCall(ctx, t, 0)
	return nil
}

// withdraw gives up what a cancelled task has left at its upstream: who held it may have died before it could.
func (p *Peers) withdraw(ctx context.Context, t *task.Task) error {
	if !t.LeftBehind() {
		return nil
	}
	c, err := p.runner.CallOf(ctx, t) // without it the upstream's is left to expire
	if errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	if c != nil {
		go p.runner.Withdraw(ctx, t, t.RequestState, &c.Envelope) // one upstream that hangs holds up nothing else
	}
	return nil
}

// cleanUpSession does what is left to do in the session of a task that has ended.
func (p *Peers) cleanUpSession(ctx context.Context, t *task.Task) error {
	if t.Session == "" {
		return nil
	}
	c, err := p.runner.CallOf(ctx, t) // without it the session idles out at its upstream
	if errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	if t.State == task.Cancelled && c != nil {
		p.runner.Revoke(ctx, t, c) // who held it may have died before it could
	}
	return p.runner.LeaveSession(ctx, t, c)
}
