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
	audience *upgradedAudience // the goroutine's
}

// addUpgraded starts the leg for the tasks of berth's own making.
func (l *subscription) addUpgraded() {
	ctx, end := context.WithCancel(l.ctx)
	agreed := mcp.Filter{}.WithTasks(l.upgraded.ids())
	g := &upgradedLeg{
		leg:      &leg{l: l, asked: agreed, agreed: agreed, state: legStanding, end: end},
		audience: l.upgraded,
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
	watch := g.audience.watch
	for watch.Len() > 0 {
		select {
		case <-watch.Changed():
			watch.Heed()
		case <-time.After(time.Until(watch.Next())):
		case <-ctx.Done():
			return
		}
		if g.lookAround(ctx) != nil {
			return
		}
	}
	_ = g.tell(ctx, legEvent{done: true}) // fails only where nobody wants to know
}

// lookAround looks at the tasks that are due. It fails only when ctx ends.
func (g *upgradedLeg) lookAround(ctx context.Context) error {
	due := g.audience.watch.Due()
	for _, task := range g.audience.tasks {
		if !slices.Contains(due, task.id) {
			continue
		}
		over, err := g.look(ctx, task)
		if err != nil {
			return err
		}
		if over {
			g.audience.watch.Remove(task.id)
		}
	}
	return nil
}

// look tells the client of a task that is another than it knows. over says that there
// will be nothing more to tell. What the store cannot say is no change: a task that it
// does not know is over only once it has expired.
func (g *upgradedLeg) look(ctx context.Context, task *upgradedTask) (over bool, err error) {
	view, err := g.l.x.p.watching.View(ctx, task.id, g.l.x.Asker())
	if err != nil {
		g.audience.watch.Later(task.id, 0)
		return errors.Is(err, upgrade.ErrUnknown) && time.Now().After(task.expires), context.Cause(ctx)
	}
	g.audience.watch.Later(task.id, task.poll)
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
