package peers

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// reaper finds holders that are gone. Every berth has one; what two of them do to one
// task the record's compare-and-swap sorts out.
type reaper struct {
	p      *Peers
	missed map[string]int // by holder: ticks in a row without a lease
	last   time.Time
}

func newReaper(p *Peers) *reaper { return &reaper{p: p, missed: map[string]int{}} }

// missesToAct is how many ticks in a row a lease must be missing. One may be a renewal
// that was late.
const missesToAct = 2

// look acts on holders whose lease is gone. It believes only a store that has served
// without a break for as long as a lease lives, by its own eyes or by another holder's
// word: after an outage all of them are gone, and those who live need a moment to come
// back. Beats that are not a tick apart do not count.
func (r *reaper) look(ctx context.Context) {
	if !r.p.ledger.Store.Shared() || r.p.runner.Calls.Closed() || time.Since(r.last) < r.p.ledger.Epoch.Beat()*9/10 {
		return
	}
	r.last = time.Now()
	holders, err := r.p.ledger.Store.Members(ctx, r.p.ledger.Lists.Holders())
	if err != nil || !r.p.believesStore(ctx, holders) {
		clear(r.missed)
		return
	}
	still := make(map[string]int)
	for _, holder := range holders {
		if holder == r.p.ledger.Holder {
			continue
		}
		lives, err := r.p.ledger.Lists.Stands(ctx, holder)
		if err != nil {
			clear(r.missed)
			return
		}
		if !lives {
			still[holder] = r.missed[holder] + 1
		}
	}
	r.missed = still
	for holder, misses := range still {
		if misses >= missesToAct && r.p.reap(ctx, holder) == nil {
			delete(r.missed, holder)
		}
	}
}

// believesStore reports whether a lease that is missing is one that was not renewed.
func (p *Peers) believesStore(ctx context.Context, holders []string) bool {
	if p.ledger.Epoch.IsStable() {
		return true
	}
	p.ledger.Epoch.Hear(ctx, holders)
	return p.ledger.Epoch.IsStable()
}

// reap sees to all that a holder left whose lease is gone. One that comes back lists no
// task before its lease stands again: so the lease is asked for after the list.
func (p *Peers) reap(ctx context.Context, holder string) error {
	left, err := p.ledger.Store.Members(ctx, p.ledger.Lists.TasksOf(holder))
	if err != nil {
		return err
	}
	if lives, err := p.ledger.Lists.Stands(ctx, holder); lives || err != nil {
		return err
	}
	if err := p.reapAll(ctx, holder, left); err != nil {
		return err
	}
	lives, err := p.ledger.Lists.Stands(ctx, holder)
	if lives {
		err = p.ledger.Lists.AddHolder(ctx, holder) // it came back, and was struck
	}
	return err
}

// reapAll sees to what a dead holder left, and then forgets the holder. It may be repeated.
func (p *Peers) reapAll(ctx context.Context, holder string, left []string) error {
	found := reaped{tools: map[string]bool{}, pools: map[string]bool{}}
	if len(left) > 0 {
		defer func() {
			p.log.Warn("a berth that held calls is gone", "holder", holder, "tasks", len(left),
				"tools", found.some(found.tools), "pools", found.some(found.pools))
		}()
	}
	for _, id := range left {
		t, err := p.reapTask(ctx, id, holder)
		found.add(t)
		if errors.Is(err, storage.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		if err != nil { // repeating it would keep the others waiting
			p.log.Error("a task of a berth that is gone is lost", "task", id, "error", err)
		}
		if err := p.ledger.Store.RemoveMember(ctx, p.ledger.Lists.TasksOf(holder), id); err != nil {
			return err
		}
	}
	if err := p.ledger.Store.Delete(ctx, p.ledger.Lists.ChangesFor(holder)); err != nil {
		return err
	}
	return p.ledger.Store.RemoveMember(ctx, p.ledger.Lists.Holders(), holder)
}

// reapTask claims a task of a dead holder, and sees to it.
func (p *Peers) reapTask(ctx context.Context, id, holder string) (task.Task, error) {
	ctx, cancel := context.WithTimeout(ctx, ledger.StoreTime)
	defer cancel()
	p.runner.LookAt(ctx, id) // this process may have held the call before that one
	release, err := p.runner.Calls.Claim(ctx, id)
	if err != nil {
		return task.Task{}, ledger.Unavailable(err)
	}
	defer release()
	t, err := p.reapClaimed(ctx, id, holder)
	return t, ledger.Unavailable(err)
}

// reaped is what a dead holder left, as its death is told of.
type reaped struct{ tools, pools map[string]bool }

func (e reaped) add(t task.Task) {
	if t.ID != "" {
		e.tools[t.Tool], e.pools[t.Pool] = true, true
	}
}

// some returns names in order, as many as a line of a log has room for.
func (e reaped) some(names map[string]bool) []string {
	const most = 10
	sorted := slices.Sorted(maps.Keys(names))
	return sorted[:min(len(sorted), most)]
}

// reapClaimed sees to a task that a dead holder had listed, and returns what it found; the zero
// Task if there is none any more. The caller has claimed it.
func (p *Peers) reapClaimed(ctx context.Context, id, holder string) (task.Task, error) {
	e, err := p.ledger.Records.Get(ctx, id)
	if errors.Is(err, ledger.ErrUnknown) {
		return task.Task{}, nil
	}
	if err != nil {
		return task.Task{}, err
	}
	return e.Task, p.reapEntry(ctx, e, holder)
}

func (p *Peers) reapEntry(ctx context.Context, e ledger.Entry, holder string) error {
	p.release(ctx, &e.Task, holder)
	if e.Holder != holder {
		return p.cleanUp(ctx, &e.Task)
	}
	c, err := p.adopter(ctx, &e.Task)
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		return err
	case c != nil:
		return p.adopt(ctx, e, c)
	}
	return p.orphan(ctx, e, err)
}

// adopter returns the call with which this berth can go on with a task of a dead holder; nil
// if it cannot, with the reason if there is one beside the holder's death.
func (p *Peers) adopter(ctx context.Context, t *task.Task) (*task.Call, error) {
	if !t.MayGoOn() || p.runner.Pools[t.Pool] == nil {
		return nil, nil
	}
	if awaited, err := p.runner.Awaited(ctx, t); !awaited || err != nil {
		return nil, err
	}
	return p.runner.CallOf(ctx, t)
}

// adopt goes on with a task as its holder. The caller has claimed it.
func (p *Peers) adopt(ctx context.Context, e ledger.Entry, c *task.Call) error {
	if err := p.ledger.TakeOn(ctx, &e.Task); err != nil {
		return err
	}
	op := p.ledger.Op(task.Adopt)
	op.Of = e.Holder
	after, err := p.ledger.Records.Apply(ctx, e, op)
	switch {
	case errors.Is(err, task.ErrTerminal), errors.Is(err, task.ErrStale), errors.Is(err, task.ErrState), errors.Is(err, ledger.ErrUnknown):
		return nil // another berth was first
	case err != nil:
		return err
	}
	if !p.runner.TookOver(&after.Task, op) {
		return nil
	}
	p.runner.Metrics.Adopted(ctx)
	p.runner.Hold(after, c).Start(nil)
	return nil
}

// orphan ends a task whose holder is gone and that nobody can go on with.
func (p *Peers) orphan(ctx context.Context, e ledger.Entry, reason error) error {
	failure := task.Lost(mcp.ReasonHolderLost, "the berth that held the call is gone", e.Task)
	if reason != nil {
		failure = task.FailureOf(reason, e.Task)
	}
	op := p.ledger.Op(task.Orphan)
	op.Of, op.Message, op.Outcome = e.Holder, failure.Message, op.ID
	op.Size = int64(len(failure.Object()))
	if err := p.ledger.Records.KeepOutcome(ctx, e.ID, op.Outcome, failure.Object(), p.ledger.Left(&e.Task)); err != nil {
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
	p.ledger.Notices.Changed(ctx, &e.Task)
	return p.cleanUp(ctx, &after.Task)
}

// release gives back the places that a holder has taken for a task. Its record tells only
// where a call was sent, so all upstreams are looked at.
func (p *Peers) release(ctx context.Context, t *task.Task, holder string) {
	pool := p.runner.Pools[t.Pool]
	if t.Terms.Slots == 0 || pool == nil {
		return
	}
	for _, u := range pool.Routing.Upstreams() {
		list := p.ledger.Lists.SlotsOf(t.Terms.Queue, u.Name)
		taken, _ := p.ledger.Store.Members(ctx, list) // what stays is weeded out
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
	if !t.State.Terminal() {
		return nil
	}
	p.ledger.LeaveLive(ctx, t)
	if err := p.cleanUpSession(ctx, t); err != nil {
		return err
	}
	p.ledger.DropCall(ctx, t.ID)
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
