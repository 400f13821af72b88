package upgrade

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/storage"
)

// reaper finds holders that are gone. Every berth has one; what two of them do to one
// task the record's compare-and-swap sorts out.
type reaper struct {
	t      *Tasks
	missed map[string]int // by holder: ticks in a row without a lease
	last   time.Time
}

func newReaper(t *Tasks) *reaper { return &reaper{t: t, missed: map[string]int{}} }

// missesToAct is how many ticks in a row a lease must be missing. One may be a renewal
// that was late.
const missesToAct = 2

// look acts on holders whose lease is gone. It believes only a store that has served
// without a break for as long as a lease lives, by its own eyes or by another holder's
// word: after an outage all of them are gone, and those who live need a moment to come
// back. Beats that are not a tick apart do not count.
func (r *reaper) look(ctx context.Context) {
	if !r.t.store.Shared() || r.t.custody.closed() || time.Since(r.last) < r.t.beat()*9/10 {
		return
	}
	r.last = time.Now()
	holders, err := r.t.store.Members(ctx, r.t.lists.holders())
	if err != nil || !r.t.believesStore(ctx, holders) {
		clear(r.missed)
		return
	}
	still := make(map[string]int)
	for _, holder := range holders {
		if holder == r.t.holder {
			continue
		}
		lives, err := r.t.lists.stands(ctx, holder)
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
		if misses >= missesToAct && r.t.bury(ctx, holder) == nil {
			delete(r.missed, holder)
		}
	}
}

// believesStore reports whether a lease that is missing is one that was not renewed.
func (t *Tasks) believesStore(ctx context.Context, holders []string) bool {
	if t.storeIsSteady() {
		return true
	}
	t.hear(ctx, holders)
	return t.storeIsSteady()
}

// bury sees to all that a holder left whose lease is gone. One that comes back lists no
// task before its lease stands again: so the lease is asked for after the list.
func (t *Tasks) bury(ctx context.Context, holder string) error {
	left, err := t.store.Members(ctx, t.lists.tasksOf(holder))
	if err != nil {
		return err
	}
	if lives, err := t.lists.stands(ctx, holder); lives || err != nil {
		return err
	}
	if err := t.reap(ctx, holder, left); err != nil {
		return err
	}
	lives, err := t.lists.stands(ctx, holder)
	if lives {
		err = t.lists.addHolder(ctx, holder) // it came back, and was struck
	}
	return err
}

// reap sees to what a dead holder left, and then forgets the holder. It may be repeated.
func (t *Tasks) reap(ctx context.Context, holder string, left []string) error {
	found := estate{tools: map[string]bool{}, pools: map[string]bool{}}
	if len(left) > 0 {
		defer func() {
			t.log.Warn("a berth that held calls is gone", "holder", holder, "tasks", len(left),
				"tools", found.some(found.tools), "pools", found.some(found.pools))
		}()
	}
	for _, id := range left {
		task, err := t.inheritFrom(ctx, id, holder)
		found.add(task)
		if errors.Is(err, storage.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		if err != nil { // repeating it would keep the others waiting
			t.log.Error("a task of a berth that is gone is lost", "task", id, "error", err)
		}
		if err := t.store.Delist(ctx, t.lists.tasksOf(holder), id); err != nil {
			return err
		}
	}
	if err := t.store.Delete(ctx, t.lists.mailOf(holder)); err != nil {
		return err
	}
	return t.store.Delist(ctx, t.lists.holders(), holder)
}

// inheritFrom claims a task of a dead holder, and sees to it.
func (t *Tasks) inheritFrom(ctx context.Context, id, holder string) (Task, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	t.lookAt(ctx, id) // this process may have held the call before that one
	release, err := t.custody.claim(ctx, id)
	if err != nil {
		return Task{}, unavailable(err)
	}
	defer release()
	task, err := t.inherit(ctx, id, holder)
	return task, unavailable(err)
}

// estate is what a dead holder left, as its death is told of.
type estate struct{ tools, pools map[string]bool }

func (e estate) add(task Task) {
	if task.ID != "" {
		e.tools[task.Tool], e.pools[task.Pool] = true, true
	}
}

// some returns names in order, as many as a line of a log has room for.
func (e estate) some(names map[string]bool) []string {
	const most = 10
	sorted := slices.Sorted(maps.Keys(names))
	return sorted[:min(len(sorted), most)]
}

// inherit sees to a task that a dead holder had listed, and returns what it found; the zero
// Task if there is none any more. The caller has claimed it.
func (t *Tasks) inherit(ctx context.Context, id, holder string) (Task, error) {
	e, err := t.records.get(ctx, id)
	if errors.Is(err, ErrUnknown) {
		return Task{}, nil
	}
	if err != nil {
		return Task{}, err
	}
	return e.Task, t.inheritEntry(ctx, e, holder)
}

func (t *Tasks) inheritEntry(ctx context.Context, e entry, holder string) error {
	t.vacate(ctx, &e.Task, holder)
	if e.Holder != holder {
		return t.tidy(ctx, &e.Task)
	}
	c, err := t.heir(ctx, &e.Task)
	switch {
	case errors.Is(err, storage.ErrUnavailable):
		return err
	case c != nil:
		return t.adopt(ctx, e, c)
	}
	return t.orphan(ctx, e, err)
}

// heir returns the call with which this berth can go on with a task of a dead holder; nil
// if it cannot, with the reason if there is one beside the holder's death.
func (t *Tasks) heir(ctx context.Context, task *Task) (*Call, error) {
	if !task.mayGoOn() || t.pools[task.Pool] == nil {
		return nil, nil
	}
	if awaited, err := t.awaited(ctx, task); !awaited || err != nil {
		return nil, err
	}
	return t.callOf(ctx, task)
}

// awaited reports whether somebody has the handle of a task, or may yet get it by the key
// of its call. The client of any other one calls again.
func (t *Tasks) awaited(ctx context.Context, task *Task) (bool, error) {
	if task.Handed || task.Once == (Once{}) {
		return task.Handed, nil
	}
	used, err := t.used(ctx, task.Once)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return used.Recorded && used.Task == task.ID, err
}

// adopt goes on with a task as its holder. The caller has claimed it.
func (t *Tasks) adopt(ctx context.Context, e entry, c *Call) error {
	if err := t.takeOn(ctx, &e.Task); err != nil {
		return err
	}
	op := t.op(Adopt)
	op.Of = e.Holder
	after, err := t.records.apply(ctx, e, op)
	switch {
	case errors.Is(err, ErrTerminal), errors.Is(err, ErrStale), errors.Is(err, ErrState), errors.Is(err, ErrUnknown):
		return nil // another berth was first
	case err != nil:
		return err
	}
	if !t.tookOver(&after.Task, op) {
		return nil
	}
	t.metrics.adopted.Add(ctx, 1)
	t.hold(after, c).start()
	return nil
}

// orphan ends a task whose holder is gone and that nobody can go on with.
func (t *Tasks) orphan(ctx context.Context, e entry, reason error) error {
	failure := lost(mcp.ReasonHolderLost, "the berth that held the call is gone", e.Task)
	if reason != nil {
		failure = wordFailure(reason, e.Task)
	}
	op := t.op(Orphan)
	op.Of, op.Message, op.Outcome = e.Holder, failure.Message, op.ID
	op.Size = int64(len(failure.Object()))
	if err := t.records.keepOutcome(ctx, e.ID, op.Outcome, failure.Object(), t.left(&e.Task)); err != nil {
		return err
	}
	after, err := t.records.apply(ctx, e, op)
	switch {
	case errors.Is(err, ErrTerminal), errors.Is(err, ErrStale), errors.Is(err, ErrUnknown):
		t.records.dropOutcome(ctx, e.ID, op.Outcome)
		return nil
	case err != nil:
		return err
	}
	t.metrics.orphaned.Add(ctx, 1)
	t.changed(ctx, &e.Task)
	return t.tidy(ctx, &after.Task)
}

// vacate gives back the places that a holder has taken for a task. Its record tells only
// where a call was sent, so all upstreams are looked at.
func (t *Tasks) vacate(ctx context.Context, task *Task, holder string) {
	pool := t.pools[task.Pool]
	if task.Terms.Slots == 0 || pool == nil {
		return
	}
	for _, u := range pool.Routing.Upstreams() {
		list := t.lists.slotsOf(task.Terms.Queue, u.Name)
		taken, _ := t.store.Members(ctx, list) // what stays is weeded out
		for _, name := range taken {
			if strings.HasPrefix(name, placesOf(task.ID, holder)) {
				t.freeSlot(ctx, list, name)
			}
		}
	}
	t.tell(ctx, queueTopic(task.Terms.Queue))
}

// tidy takes a task that nobody holds out of the lists that it has no place in. It fails
// while the store does not take what others wait for.
func (t *Tasks) tidy(ctx context.Context, task *Task) error {
	if task.Holder == "" && task.Terms.Slots > 0 {
		t.unqueue(ctx, task)
	}
	if !task.State.Terminal() {
		return nil
	}
	t.leave(ctx, task)
	if err := t.tidySession(ctx, task); err != nil {
		return err
	}
	t.dropCall(ctx, task.ID)
	return nil
}

// tidySession does what is left to do in the session of a task that has ended.
func (t *Tasks) tidySession(ctx context.Context, task *Task) error {
	if task.Session == "" {
		return nil
	}
	c, err := t.callOf(ctx, task) // without it the session idles out at its upstream
	if errors.Is(err, storage.ErrUnavailable) {
		return err
	}
	if task.State == Cancelled && c != nil {
		t.revoke(ctx, task, c) // who held it may have died before it could
	}
	return t.leaveSession(ctx, task, c)
}
