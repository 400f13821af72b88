package taskwatch

import (
	"context"
	"sync/atomic"
	"time"

	"berth/upgrade"
)

const (
	// least is the least time between two reads of a task that nobody told of.
	least = time.Second

	// perSecond bounds how many such reads a berth makes, however many tasks are
	// listened to: they are there for what was told and not heard, which is rare.
	perSecond = 500

	// atOnce bounds the reads under way, whatever they are for. An outcome that is
	// being read may be as large as its rule allows.
	atOnce = 16

	// Patience is how long one read may take.
	Patience = 2 * time.Second
)

// Poller reads tasks for all listeners of a berth.
type Poller struct {
	tasks   *upgrade.Reader
	reads   chan struct{} // one for each read under way
	watched atomic.Int64  // tasks that are listened to and have not ended, for each who listens
}

// New returns a poller of tasks; nil is never asked for one.
func New(tasks *upgrade.Reader) *Poller {
	return &Poller{tasks: tasks, reads: make(chan struct{}, atOnce)}
}

// Interval is how long after one read of a task the next one is due if nobody told of a
// change, where its clients are told to poll it this often.
func (p *Poller) Interval(poll time.Duration) time.Duration {
	return max(poll, least, time.Duration(p.watched.Load())*time.Second/perSecond)
}

// Count adds n to what is read from time to time, beside the tasks of each Watch.
func (p *Poller) Count(n int64) { p.watched.Add(n) }

// Record returns what is known of a task but its outcome. ctx bounds it.
func (p *Poller) Record(ctx context.Context, id string, who upgrade.Asker) (task upgrade.Task, err error) {
	err = p.Read(ctx, func() (err error) {
		task, err = p.tasks.Peek(ctx, id, who)
		return err
	})
	return task, err
}

// View returns a task as its client may see it, within Patience.
func (p *Poller) View(ctx context.Context, id string, who upgrade.Asker) (upgrade.View, error) {
	return p.view(ctx, id, who, p.tasks.Get)
}

// Status returns a task as its client may see it, without its outcome, within Patience.
func (p *Poller) Status(ctx context.Context, id string, who upgrade.Asker) (upgrade.View, error) {
	return p.view(ctx, id, who, p.tasks.Glance)
}

func (p *Poller) view(ctx context.Context, id string, who upgrade.Asker, get func(context.Context, string, upgrade.Asker) (upgrade.View, error)) (view upgrade.View, err error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	err = p.Read(ctx, func() (err error) {
		view, err = get(ctx, id, who)
		return err
	})
	return view, err
}

// Read runs read as one of the reads under way, when there is room. Its error is read's, or
// why ctx ended.
func (p *Poller) Read(ctx context.Context, read func() error) error {
	select {
	case p.reads <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-p.reads }()
	return read()
}
