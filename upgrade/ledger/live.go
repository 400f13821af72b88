package ledger

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"berth/internal/storage"
	"berth/upgrade/task"
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

// pruneAtOnce bounds what one refusal may cost the store.
const pruneAtOnce = 8

// pruneLive takes out of a principal's live tasks what is none, of the oldest ones: who
// died while it made a task, or took the end of one down, has left it there.
func (l *Ledger) pruneLive(ctx context.Context, list string) (found bool) {
	listed, _ := l.Store.Members(ctx, list) // none, and nothing is found
	for _, id := range listed[:min(len(listed), pruneAtOnce)] {
		e, err := l.Records.Get(ctx, id)
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

// unmade are the tasks that were met as live ones before they had a record. A task is listed before it is made: without a
// record it is on its way, or whoever made it has died. The zero value is ready.
type unmade struct {
	mu  sync.Mutex // guards the field below
	met map[string]time.Time
}

// isOver reports whether a task that has no record was met without one so long ago that it will have none.
func (u *unmade) isOver(id string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	met, known := u.met[id]
	switch {
	case !known && len(u.met) < maxUnmade:
		if u.met == nil {
			u.met = map[string]time.Time{}
		}
		u.met[id] = time.Now()
		return false
	case !known:
		maps.DeleteFunc(u.met, func(_ string, met time.Time) bool { return time.Since(met) >= 2*makeTime })
		return false
	case time.Since(met) < makeTime:
		return false
	}
	delete(u.met, id)
	return true
}

// LeaveLive takes a task that has ended out of its principal's live ones.
func (l *Ledger) LeaveLive(ctx context.Context, t *task.Task) {
	if t.Principal != "" && !t.Terms.Unlisted {
		l.Lists.Remove(ctx, l.Lists.LiveOf(t.Pool, t.Principal), t.ID)
	}
}
