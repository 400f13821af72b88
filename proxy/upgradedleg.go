package proxy

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/upgrade"
)

// upgradedLeg is the leg of a subscription that berth serves itself: its tasks of
// berth's own making. No upstream hears of it. It stands from the beginning on, with
// what was found, and an outage of the store ends it as little as that of an upstream
// would end another.
type upgradedLeg struct {
	*leg
	out     *lookout
	changes *upgrade.Watcher
	tasks   []*upgradedTask // that have not ended; the goroutine's
}

// addUpgraded starts the leg for the tasks of berth's own making.
func (l *subscription) addUpgraded() {
	ctx, end := context.WithCancel(l.ctx)
	agreed := mcp.Filter{}.WithTasks(l.upgraded.ids())
	g := &upgradedLeg{
		leg:     &leg{l: l, asked: agreed, agreed: agreed, state: legStanding, end: end},
		out:     &l.x.p.lookout,
		changes: l.upgraded.changes,
		tasks:   l.upgraded.tasks,
	}
	l.legs = append(l.legs, g.leg)
	l.running.Go(func() { g.run(ctx) })
}

// run tells of the tasks until all have ended, or ctx ends.
func (g *upgradedLeg) run(ctx context.Context) {
	select {
	case <-g.l.acknowledged:
	case <-ctx.Done():
		return
	}
	g.out.watching.Add(int64(len(g.tasks)))
	defer func() { g.out.watching.Add(-int64(len(g.tasks))) }()
	for len(g.tasks) > 0 {
		select {
		case <-g.changes.Woken:
			g.hurry(g.changes.Take())
		case <-time.After(time.Until(g.due())):
		case <-ctx.Done():
			return
		}
		if g.lookAround(ctx) != nil {
			return
		}
	}
	_ = g.tell(ctx, legEvent{done: true}) // fails only where nobody wants to know
}

// due is when the next task is to be looked at.
func (g *upgradedLeg) due() time.Time {
	return slices.MinFunc(g.tasks, func(a, b *upgradedTask) int { return a.due.Compare(b.due) }).due
}

// hurry makes these tasks due at once.
func (g *upgradedLeg) hurry(ids []string) {
	for _, task := range g.tasks {
		if slices.Contains(ids, task.id) {
			task.due = time.Time{}
		}
	}
}

// lookAround looks at the tasks that are due. It fails only when ctx ends.
func (g *upgradedLeg) lookAround(ctx context.Context) error {
	for _, task := range slices.Clone(g.tasks) {
		if time.Now().Before(task.due) {
			continue
		}
		over, err := g.look(ctx, task)
		if err != nil {
			return err
		}
		if over {
			g.tasks = slices.DeleteFunc(g.tasks, func(other *upgradedTask) bool { return other == task })
			g.out.watching.Add(-1)
		}
	}
	return nil
}

// look tells the client of a task that is another than it knows. over says that there
// will be nothing more to tell. What the store cannot say is no change: a task that it
// does not know is over only once it has expired.
func (g *upgradedLeg) look(ctx context.Context, task *upgradedTask) (over bool, err error) {
	view, err := g.out.view(ctx, task.id, g.l.x.asker())
	if err != nil {
		task.due = time.Now().Add(g.out.interval(0))
		return errors.Is(err, upgrade.ErrUnknown) && time.Now().After(task.expires), context.Cause(ctx)
	}
	task.due = time.Now().Add(g.out.interval(task.poll))
	now := task.next(view)
	if now == task.told {
		view.Return()
		return false, nil
	}
	task.told = now
	return view.State.Terminal(), g.show(ctx, view)
}

// show tells the client of a task as it is seen. The subscription returns the view if it takes
// the event.
func (g *upgradedLeg) show(ctx context.Context, view upgrade.View) error {
	err := g.withFloor(ctx, func() error { return g.tell(ctx, legEvent{view: &view}) })
	if err != nil {
		view.Return()
	}
	return err
}
