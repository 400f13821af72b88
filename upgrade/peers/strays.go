package peers

import (
	"context"
	"errors"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/runner"
	"berth/upgrade/task"
)

// seeToMet sees to the tasks that somebody has asked this process for since the last beat: their records name holders that may not
// hold them. Those are told; it is said again with each beat, as long as somebody asks.
func (p *Peers) seeToMet(ctx context.Context) {
	var others []string
	for id, holder := range p.ledger.Strays.Take() {
		held, own := p.runner.Calls.Get(id) != nil, holder == p.ledger.Holder
		switch {
		case held && !own:
			p.runner.LookAt(ctx, id) // the record has fallen behind what this process did
		case !held && own:
			p.ownStray(ctx, id)
		case !own:
			others = append(others, ledger.StrayTopic(holder, id))
		}
	}
	p.ledger.Notices.TellEach(ctx, others)
}

// isAsked reports whether others tell of what they take for this process's, and it does not hold.
func (p *Peers) isAsked(about string) bool {
	if id, ok := ledger.StrayTo(p.ledger.Holder, about); ok {
		return p.runner.Calls.Get(id) == nil
	}
	_, name, ok := ledger.PlaceOf(about)
	return ok && p.mayFree(name)
}

// mayFree reports whether a place is this process's, and nobody will give it back. While it goes, calls that it has let go of run on
// in their places until others take them over.
func (p *Peers) mayFree(name string) bool {
	return p.runner.Places.IsOwnStray(name) && !p.runner.Calls.Closed()
}

// answerFor sees to what others take for this process's.
func (p *Peers) answerFor(ctx context.Context, about string) {
	if list, name, ok := ledger.PlaceOf(about); ok {
		if p.mayFree(name) {
			p.ledger.FreeSlot(ctx, list, name)
		}
		return
	}
	if id, ok := ledger.StrayTo(p.ledger.Holder, about); ok {
		p.ownStray(ctx, id)
	}
}

// ownStray sees to a task whose record names this process, unless that has changed since, or it holds the call.
func (p *Peers) ownStray(ctx context.Context, id string) {
	ctx, cancel := ledger.Bounded(ctx)
	defer cancel()
	if e, err := p.ledger.Records.Get(ctx, id); err == nil && e.Holder == p.ledger.Holder {
		p.own(ctx, id)
	}
}

// heal sees to a task whose record is older than what this process knew as it let go of the call, and reports whether it has, or is to
// be left as it is: of what may have run, nobody is to run it again. The caller has claimed the task.
func (p *Peers) heal(ctx context.Context, e ledger.Entry) (done bool, err error) {
	past, ok := p.runner.Past.Behind(e)
	switch {
	case !ok:
		return false, nil
	case !past.Ended && p.runner.Past.MayHeal(e.ID, p.ledger.Epoch.Settling()):
		p.ledger.Notices.Tell(ctx, e.ID) // who holds the call now puts the record right
		return true, errLeftToOthers
	case past.End != nil:
		p.release(ctx, e.Task, e.Holder)
		return true, p.restore(ctx, e, past.End)
	case e.Follows != "" && e.State == task.Dispatched, e.Resumable(): // it can be listened to further
		return false, nil
	}
	p.release(ctx, e.Task, e.Holder)
	was := *e.Task
	was.Round = max(was.Round, past.Rounds)
	return true, p.orphan(ctx, e, task.Lost(mcp.ReasonHolderLost, "the store has fallen back to an older state, and what has become of the call is lost", &was))
}

// restore has a task end as it did before.
func (p *Peers) restore(ctx context.Context, e ledger.Entry, end *runner.PastEnd) error {
	if name := end.Task.Outcome; name != "" {
		if err := p.ledger.Records.KeepOutcome(ctx, e.ID, name, end.Outcome, p.ledger.Left(e.Task)); err != nil {
			return err
		}
	}
	if err := p.ledger.Outbox.Add(ctx, end.Task, end.Task.AllMessages()); err != nil {
		return err
	}
	after, err := p.ledger.Records.Replace(ctx, end.Task, e.Version)
	if err != nil {
		return errors.Join(storage.ErrUnavailable, err) // or others were first
	}
	p.runner.Metrics.PutBack(ctx)
	p.ledger.Notices.Changed(ctx, after.Task)
	return p.cleanUp(ctx, after.Task)
}
