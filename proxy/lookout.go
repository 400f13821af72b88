package proxy

import (
	"context"
	"sync/atomic"
	"time"

	"berth/upgrade"
)

const (
	// lookLeast is the least time between two looks at a task that nobody told of.
	lookLeast = time.Second

	// looksPerSecond bounds how many such looks a berth takes, however many tasks are
	// listened to: they are there for what was told and not heard, which is rare.
	looksPerSecond = 500

	// looksAtOnce bounds the looks under way, whatever they are for. An outcome that is
	// being read may be as large as its rule allows.
	looksAtOnce = 16
)

// lookout looks at tasks of berth's own making for all subscriptions, and bounds what
// that costs the store.
type lookout struct {
	tasks    *upgrade.Tasks
	reads    chan struct{} // one for each look under way
	watching atomic.Int64  // tasks that are listened to and have not ended, for each who listens
}

// interval is how long after one look at a task the next one is due if nobody told of a
// change, where its clients are told to poll it this often.
func (o *lookout) interval(poll time.Duration) time.Duration {
	return max(poll, lookLeast, time.Duration(o.watching.Load())*time.Second/looksPerSecond)
}

// record returns what is known of a task but its outcome.
func (o *lookout) record(ctx context.Context, id string, who upgrade.Asker) (task upgrade.Task, err error) {
	err = o.look(ctx, func() (err error) {
		task, err = o.tasks.Peek(ctx, id, who)
		return err
	})
	return task, err
}

// view returns a task as its client may see it.
func (o *lookout) view(ctx context.Context, id string, who upgrade.Asker) (view upgrade.View, err error) {
	ctx, cancel := context.WithTimeout(ctx, statePatience)
	defer cancel()
	err = o.look(ctx, func() (err error) {
		view, err = o.tasks.Get(ctx, id, who)
		return err
	})
	return view, err
}

// glance returns a task as its client may see it, without its outcome.
func (o *lookout) glance(ctx context.Context, id string, who upgrade.Asker) (view upgrade.View, err error) {
	ctx, cancel := context.WithTimeout(ctx, statePatience)
	defer cancel()
	err = o.look(ctx, func() (err error) {
		view, err = o.tasks.Glance(ctx, id, who)
		return err
	})
	return view, err
}

func (o *lookout) look(ctx context.Context, read func() error) error {
	select {
	case o.reads <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-o.reads }()
	return read()
}
