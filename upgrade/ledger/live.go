package ledger

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"

	lru "github.com/hashicorp/golang-lru/v2"
)

// CountLive adds a task to its principal's live ones, unless those are as many as most.
func (l *Ledger) CountLive(ctx context.Context, t *task.Task, most int) error {
	if most <= 0 || t.Principal == "" {
		return nil
	}
	list := l.Lists.LiveOf(t.Pool, t.Principal)
	add := func() error { return l.Lists.Add(ctx, list, t.ID, t.Terms.TTL+Spare, most) }
	err := add()
	if errors.Is(err, storage.ErrFull) && l.pruneLive(ctx, list) {
		err = add()
	}
	if errors.Is(err, storage.ErrFull) {
		return &task.Refusal{Err: ErrTooMany, Reason: "live_per_principal"}
	}
	return err
}

// LiveRoom is CountLive that counts nothing, and takes nothing out.
func (l *Ledger) LiveRoom(ctx context.Context, t *task.Task, most int) error {
	if most <= 0 || t.Principal == "" {
		return nil
	}
	listed, err := l.Store.Listing(ctx, l.Lists.LiveOf(t.Pool, t.Principal), pruneAtOnce)
	if err != nil || listed.Size < most {
		return err
	}
	for _, member := range listed.Members {
		if e, err := l.Records.Get(ctx, member.Name); err == nil && e.State.Terminal() {
			return nil
		}
	}
	return &task.Refusal{Err: ErrTooMany, Reason: "live_per_principal"}
}

// pruneAtOnce bounds what one refusal may cost the store.
const pruneAtOnce = 8

// pruneLive takes out of a principal's live tasks what is none, of the oldest ones: who
// died while it made a task, or took the end of one down, has left it there.
func (l *Ledger) pruneLive(ctx context.Context, list string) (found bool) {
	listed, _ := l.Store.Listing(ctx, list, pruneAtOnce) // none, and nothing is found
	for _, member := range listed.Members {
		id := member.Name
		e, err := l.Records.Get(ctx, id)
		if err == nil {
			l.Overlooked.Meet(e.Task)
		}
		if errors.Is(err, ErrUnknown) && l.unmade.isOver(id) || err == nil && e.State.Terminal() {
			l.Lists.Remove(ctx, list, id)
			found = true
		}
	}
	return found
}

const (
	// makeTime is more than the making of a task takes.
	makeTime = 30 * time.Second
	// maxUnmade bounds how many tasks without a record are known at a time. More are met again.
	maxUnmade = 1024
)

// unmade are the tasks that were met as live ones before they had a record, and since when. A task is listed before it is made:
// without a record it is on its way, or whoever made it has died.
type unmade struct{ met *lru.Cache[string, time.Time] }

func newUnmade() unmade {
	met, _ := lru.New[string, time.Time](maxUnmade) // fails for no size but 0 and less
	return unmade{met}
}

// isOver reports whether a task that has no record was met without one so long ago that it will have none.
func (u unmade) isOver(id string) bool {
	met, known, _ := u.met.PeekOrAdd(id, time.Now())
	if !known || time.Since(met) < makeTime {
		return false
	}
	u.met.Remove(id)
	return true
}

// LeaveLive takes a task that has ended out of its principal's live ones.
func (l *Ledger) LeaveLive(ctx context.Context, t *task.Task) {
	if t.Principal != "" && !t.Terms.Unlisted {
		l.Lists.Remove(ctx, l.Lists.LiveOf(t.Pool, t.Principal), t.ID)
	}
}
