package subscribe

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/internal/mcp/listen"
	"berth/upgrade"
)

// ownLeg is the leg of a subscription that berth serves itself: its tasks of
// berth's own making. No upstream hears of it. It stands from the beginning on, with
// what was found, and an outage of the store ends it as little as that of an upstream
// would end another.
type ownLeg struct {
	*leg
	own *ownTasks // the goroutine's
}

// addOwn starts the leg for the tasks of berth's own making.
func (l *Subscription) addOwn() {
	ctx, end := context.WithCancel(l.HTTP.Context())
	agreed := listen.Filter{}.WithTasks(l.own.ids())
	g := &ownLeg{leg: &leg{l: l, asked: agreed, agreed: agreed, state: legStanding, end: end}, own: l.own}
	l.legs = append(l.legs, g.leg)
	l.running.Go(func() { g.run(ctx) })
}

// run tells of the tasks until all have ended, or ctx ends.
func (g *ownLeg) run(ctx context.Context) {
	select {
	case <-g.l.acknowledged:
	case <-ctx.Done():
		return
	}
	watch := g.own.watch
	for watch.Len() > 0 {
		select {
		case <-watch.Changed():
			watch.TakeChanges()
		case <-time.After(time.Until(watch.Next())):
		case <-ctx.Done():
			return
		}
		if g.pollDue(ctx) != nil {
			return
		}
	}
	_ = g.report(ctx, report{done: true}) // fails only where nobody wants to know
}

// pollDue polls the tasks that are due. It fails only when ctx ends.
func (g *ownLeg) pollDue(ctx context.Context) error {
	due := g.own.watch.Due()
	for _, task := range g.own.tasks {
		if !slices.Contains(due, task.id) {
			continue
		}
		over, err := g.poll(ctx, task)
		if err != nil {
			return err
		}
		if over {
			g.own.watch.Remove(task.id)
		}
	}
	return nil
}

// poll tells the client of a task that is another than it knows. over says that there
// will be nothing more to tell. What the store cannot say is no change: a task that it
// does not know is over only once it has expired.
func (g *ownLeg) poll(ctx context.Context, task *ownTask) (over bool, err error) {
	view, err := g.l.all.Poller.View(ctx, task.id, g.l.Asker())
	if err != nil {
		g.own.watch.Later(task.id, 0)
		return errors.Is(err, upgrade.ErrUnknown) && time.Now().After(task.expires), context.Cause(ctx)
	}
	g.own.watch.Later(task.id, task.poll)
	if view.State == upgrade.InputRequired {
		g.l.all.Steps.Doubt(&view.Task, g.l.Asker(), g.l.Envelope)
	}
	now := task.summary(view)
	if now == task.known {
		view.Return()
		return false, nil
	}
	task.known = now
	return view.State.Terminal(), g.pass(ctx, view)
}

// pass tells the client of a task as it is seen. The subscription returns the view if it takes
// the report.
func (g *ownLeg) pass(ctx context.Context, view upgrade.View) error {
	err := g.withFloor(ctx, func() error { return g.report(ctx, report{view: &view}) })
	if err != nil {
		view.Return()
	}
	return err
}
