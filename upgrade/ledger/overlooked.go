package ledger

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"berth/upgrade/task"
)

// maxOverlooked bounds how many tasks of holders that are not listed are known at a time. More are met again.
const maxOverlooked = 1024

// Overlooked are the tasks that this process has met whose holders are not listed. A task is listed before its
// record is made: so the store was flushed in between, and if its holder has died since nobody is to see to it.
// Or the holder began a moment ago, or is done with.
type Overlooked struct {
	l      *Ledger
	listed atomic.Pointer[map[string]bool] // holders, as they were told last; nil: nobody told

	mu  sync.Mutex // guards the field below
	met map[string]overlooked
}

type overlooked struct {
	holder  string
	expires time.Time // as this process counts
}

// Meet notes a task that somebody has asked for, if its holder is not listed; if it is, the holder is asked.
func (u *Overlooked) Meet(t *task.Task) {
	listed := u.listed.Load()
	if listed == nil || t.Holder == "" || t.State.Terminal() {
		return
	}
	if (*listed)[t.Holder] {
		u.l.Strays.Meet(t)
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.met) < maxOverlooked {
		u.met[t.ID] = overlooked{t.Holder, u.l.Expires(t)}
	}
}

// Told is told which holders are listed. Of the tasks that were met it lists those whose holders still are not,
// with their holders: so they are seen to as others are. What the store does not take is met again.
func (u *Overlooked) Told(ctx context.Context, holders []string) {
	listed := make(map[string]bool, len(holders))
	for _, holder := range holders {
		listed[holder] = true
	}
	u.mu.Lock()
	met := u.met
	u.met = map[string]overlooked{}
	u.mu.Unlock()
	u.listed.Store(&listed)
	for id, one := range met {
		if !slices.Contains(holders, one.holder) {
			_ = u.l.listAs(ctx, one.holder, id, time.Until(one.expires))
		}
	}
}
