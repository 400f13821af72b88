package peers

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/internal/storage"
	"berth/upgrade/ledger"
	"berth/upgrade/task"
)

// reaper finds holders that are gone.
type reaper struct {
	p        *Peers
	silences *ledger.Silences
	missed   map[string]int // by holder: beats in a row without a lease
	last     time.Time
}

// missesToAct is how many beats in a row a lease must be missing. One may be a renewal
// that was late.
const missesToAct = 2

// patience is for how many beats in a row what was not sent is left to others, where this process has no upstream for it: theirs
// may be another pool, or its own source of instances may not have answered yet.
const patience = 14

// errLeftToOthers says that others may go on with what this process cannot send, or hold what it has let go of.
var errLeftToOthers = errors.New("upgrade: left to others")

// look acts on holders whose lease is gone. It believes only a store that has served
// without a break for as long as a lease lives, by its own eyes or by another holder's
// word: after an outage all of them are gone, and those who live need a moment to come
// back. Beats that come too soon after one another do not count.
func (r *reaper) look(ctx context.Context) {
	if !r.p.ledger.Store.Shared() || r.p.runner.Calls.Closed() || time.Since(r.last) < r.p.ledger.Epoch.Beat()*9/10 {
		return
	}
	r.last = time.Now()
	holders, err := r.p.ledger.Store.Members(ctx, r.p.ledger.Lists.Holders())
	if err == nil {
		r.p.ledger.Overlooked.Told(ctx, holders)
		r.p.ledger.Epoch.Listed(ctx, holders)
	}
	if err != nil || !r.p.believesStore(ctx, holders) {
		r.doubt()
		return
	}
	still := make(map[string]int)
	for _, holder := range holders {
		if holder == r.p.ledger.Holder {
			continue
		}
		lives, err := r.silences.Stands(ctx, holder)
		if err != nil {
			r.doubt()
			return
		}
		if !lives {
			still[holder] = r.missed[holder] + 1
		}
	}
	r.missed = still
	r.silences.Keep(holders)
	for holder, misses := range still {
		if misses >= missesToAct && r.p.reap(ctx, holder, misses < patience) == nil {
			delete(r.missed, holder)
		}
	}
}

// doubt has nothing count that was seen so far.
func (r *reaper) doubt() {
	clear(r.missed)
	r.silences.Forget()
}

// believesStore reports whether a lease that is missing is one that was not renewed.
func (p *Peers) believesStore(ctx context.Context, holders []string) bool {
	if p.ledger.Epoch.IsStable() {
		return true
	}
	p.ledger.Epoch.Hear(ctx, holders)
	return p.ledger.Epoch.IsStable()
}

// reap sees to all that a holder left whose lease is gone; if it is patient, not to what others may send and
// this process cannot. A holder that comes back lists no task before its lease stands again: so the lease is asked for after the list.
func (p *Peers) reap(ctx context.Context, holder string, patient bool) error {
	left, err := p.ledger.Store.Members(ctx, p.ledger.Lists.TasksOf(holder))
	if err != nil {
		return err
	}
	if lives, err := p.ledger.Lists.Stands(ctx, holder); lives || err != nil {
		return err
	}
	if err := p.reapAll(ctx, holder, left, patient); err != nil {
		return err
	}
	lives, err := p.ledger.Lists.Stands(ctx, holder)
	if lives {
		err = p.ledger.Lists.AddHolder(ctx, holder) // it came back, and was removed
	}
	return err
}

// reapAll sees to what a dead holder left, and then forgets the holder. It may be repeated.
func (p *Peers) reapAll(ctx context.Context, holder string, left []string, patient bool) error {
	var tools, pools []string
	kept := 0
	defer func() {
		if n := len(left) - kept; n > 0 {
			p.log.Warn("a berth that held calls is gone", "holder", holder, "tasks", n, "tools", some(tools), "pools", some(pools))
		}
	}()
	for _, id := range left {
		t, err := p.reapTask(ctx, id, holder, patient)
		if errors.Is(err, errLeftToOthers) {
			kept++
			continue
		}
		if t.ID != "" {
			tools, pools = append(tools, t.Tool), append(pools, t.Pool)
		}
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
	if kept > 0 {
		return errLeftToOthers
	}
	if err := p.ledger.Store.Delete(ctx, p.ledger.Lists.ChangesFor(holder)); err != nil {
		return err
	}
	return p.ledger.Store.RemoveMember(ctx, p.ledger.Lists.Holders(), holder)
}

// reapTask claims a task of a dead holder, and sees to it.
func (p *Peers) reapTask(ctx context.Context, id, holder string, patient bool) (task.Task, error) {
	ctx, cancel := ledger.Bounded(ctx)
	defer cancel()
	p.runner.LookAt(ctx, id) // this process may have held the call before that one
	release, err := p.runner.Calls.Claim(ctx, id)
	if err != nil {
		return task.Task{}, ledger.Unavailable(err)
	}
	defer release()
	t, err := p.reapClaimed(ctx, id, holder, patient)
	return t, ledger.Unavailable(err)
}

// some returns names in order, each once, as many as a line of a log has room for.
func some(names []string) []string {
	const most = 10
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), most)]
}

// reapClaimed sees to a task that a dead holder had listed, and returns what it found; the zero
// Task if there is none any more. The caller has claimed it. If it is patient, what others may send is left as it is, with
// errLeftToOthers.
func (p *Peers) reapClaimed(ctx context.Context, id, holder string, patient bool) (task.Task, error) {
	e, err := p.ledger.Records.Get(ctx, id)
	if errors.Is(err, ledger.ErrUnknown) {
		return task.Task{}, nil
	}
	if err != nil {
		return task.Task{}, err
	}
	if e.Holder != holder {
		p.release(ctx, e.Task, holder)
		return *e.Task, p.cleanUp(ctx, e.Task)
	}
	if done, err := p.heal(ctx, e); done {
		return *e.Task, err
	}
	if patient && e.Waiting() && !p.canSend(e.Task) {
		return *e.Task, errLeftToOthers
	}
	p.release(ctx, e.Task, holder)
	c, err := p.adopter(ctx, e.Task)
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		return *e.Task, err
	case c != nil:
		return *e.Task, p.adopt(ctx, e, c)
	}
	return *e.Task, p.orphan(ctx, e, err)
}
