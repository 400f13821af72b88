package proxy

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/proxy/access"
	"berth/proxy/reply"
	"berth/proxy/taskwatch"
	"berth/upgrade"
)

// sessionLook is how long after one look at a session the next one is due if nobody told
// of a change. It is there for what was told and not heard.
const sessionLook = 15 * time.Second

// sessionNews is what berth itself has to say on the standing streams of one session: how
// the tasks stand whose calls are held there (notifications/tasks/status), and that the
// client has ended the session. An event goes to one of the streams, of those at other berths
// too (2025-11-25, transports, "Multiple Connections", item 2). It has a goroutine for as
// long as there is one.
type sessionNews struct {
	room     *newsroom
	poller   *taskwatch.Poller
	upgrades *upgrade.Tasks
	key      newsKey
	caller   access.Caller
	events   chan []byte
	over     chan struct{} // closed when the client has ended the session
	end      context.CancelFunc
	done     chan struct{} // closed when the goroutine has ended
	streams  int

	// The goroutine's.
	due        time.Time // when the session is looked at, whether anybody told of it or not
	tasks      []*sessionTask
	watch      *taskwatch.Watch // of those that have not ended
	deliveries map[upgrade.Creator]*upgrade.Delivery
}

// unrecorded is how long a task may be listed before it has a record: creations wait for
// their turn at the store.
const unrecorded = 15 * time.Second

// sessionTask is a task of a session.
type sessionTask struct {
	id   string
	over bool       // there is nothing more to tell; it is known while the session lists it
	told taskStatus // what the client knows of it
	met  time.Time  // when the session was first seen to list it
}

// taskStatus is what there is to tell of a task: a change of its times alone is none.
type taskStatus struct{ status, message string }

// next returns what is to be said on a stream; between says that it stands between two
// events.
func (n *sessionNews) next(between bool) <-chan []byte {
	if n == nil || !between {
		return nil
	}
	return n.events
}

// ended is closed when the client has ended the session.
func (n *sessionNews) ended() <-chan struct{} {
	if n == nil {
		return nil
	}
	return n.over
}

// run looks at the session and its tasks until ctx ends or the session is over.
func (n *sessionNews) run(ctx context.Context) {
	defer close(n.done)
	woken, stop := n.upgrades.WatchSession(n.key.session)
	defer stop()
	n.watch = n.poller.Watch()
	n.poller.Count(1)
	defer func() {
		for _, d := range n.deliveries {
			d.GiveBack(ctx)
		}
		n.watch.Stop()
		n.poller.Count(-1)
	}()
	for {
		if n.lookAtSession(ctx) {
			close(n.over)
			return
		}
		n.lookAtTasks(ctx)
		select {
		case <-woken:
			n.due = time.Time{}
		case <-n.watch.Changed():
			n.watch.Heed()
		case <-time.After(time.Until(n.nextLook())):
		case <-ctx.Done():
			return
		}
	}
}

// nextLook is when something is to be looked at.
func (n *sessionNews) nextLook() time.Time {
	if n.watch.Len() > 0 && n.watch.Next().Before(n.due) {
		return n.watch.Next()
	}
	return n.due
}

// lookAtSession finds the tasks of the session if it is due, and reports whether that is
// over. What the store cannot say is no change.
func (n *sessionNews) lookAtSession(ctx context.Context) (over bool) {
	if time.Now().Before(n.due) {
		return false
	}
	n.due = time.Now().Add(n.poller.Interval(sessionLook))
	var ids []string
	err := n.poller.Read(ctx, func() (err error) {
		if over, err = n.upgrades.SessionOver(ctx, n.key.session); err == nil && !over {
			ids, err = n.upgrades.InSession(ctx, n.key.session)
		}
		return err
	})
	if err != nil || over {
		return over
	}
	n.follow(ids)
	return false
}

// follow adds the tasks that are not known yet, and forgets those that have ended.
func (n *sessionNews) follow(ids []string) {
	var added []string
	n.tasks = slices.DeleteFunc(n.tasks, func(task *sessionTask) bool {
		return task.over && !slices.Contains(ids, task.id)
	})
	for _, id := range ids {
		if !slices.ContainsFunc(n.tasks, func(task *sessionTask) bool { return task.id == id }) {
			n.tasks = append(n.tasks, &sessionTask{id: id, told: taskStatus{status: "working"}, met: time.Now()})
			added = append(added, id)
		}
	}
	n.watch.Add(added...)
}

// lookAtTasks looks at the tasks that are due.
func (n *sessionNews) lookAtTasks(ctx context.Context) {
	due := n.watch.Due()
	for _, task := range n.tasks {
		if !slices.Contains(due, task.id) {
			continue
		}
		if task.over = n.look(ctx, task); task.over {
			n.watch.Remove(task.id)
		}
	}
}

// look tells the client of a task that is another than it knows, unless a berth does that
// has a stream of the session as well, and reports whether there will be nothing more to
// tell. What the store cannot say is no change.
func (n *sessionNews) look(ctx context.Context, task *sessionTask) (over bool) {
	view, err := n.poller.Status(ctx, task.id, n.caller.Asker())
	n.watch.Later(task.id, view.Terms.PollInterval)
	if err != nil {
		return errors.Is(err, upgrade.ErrUnknown) && time.Since(task.met) > unrecorded
	}
	if n.caller.MayAsk(ctx, view.Task) != nil {
		return view.State.Terminal() // upstreams may come to take the credentials
	}
	shown := view.Core()
	now := taskStatus{shown.Status, shown.Message}
	if now == task.told {
		return view.State.Terminal()
	}
	if n.isToldElsewhere(ctx, view.Task) {
		task.told = now
		return view.State.Terminal()
	}
	mine, err := n.delivery(&view.Task).Take(ctx, false)
	if err != nil && !mine {
		return false
	}
	task.told = now
	if mine {
		n.say(ctx, reply.Event(shown.StatusNotification()))
	}
	return view.State.Terminal()
}

// delivery is the right to tell of a task.
func (n *sessionNews) delivery(task *upgrade.Task) *upgrade.Delivery {
	var whose upgrade.Creator
	if task.Principal == "" {
		whose = task.Creator
	}
	d := n.deliveries[whose]
	if d == nil {
		d = n.upgrades.SessionDelivery(n.key.session, whose)
		if n.deliveries == nil {
			n.deliveries = map[upgrade.Creator]*upgrade.Delivery{}
		}
		n.deliveries[whose] = d
	}
	return d
}

// isToldElsewhere reports whether streams of the session that stood earlier, at this berth,
// tell of the task, to the same caller with other credentials.
func (n *sessionNews) isToldElsewhere(ctx context.Context, task upgrade.Task) bool {
	return slices.ContainsFunc(n.room.before(n), func(other *sessionNews) bool { return other.caller.MayAsk(ctx, task) == nil })
}

// say gives an event to one of the streams.
func (n *sessionNews) say(ctx context.Context, event []byte) {
	select {
	case n.events <- event:
	case <-ctx.Done():
	}
}
