package sessiontasks

import (
	"context"
	"errors"
	"slices"
	"time"

	"berth/proxy/reply"
	"berth/upgrade"
)

const (
	// lookEvery is how long after one look at a session the next one is due if nobody told
	// of a change. It is there for what was told and not heard.
	lookEvery = 15 * time.Second

	// unrecorded is how long a task may be listed before it has a record: creations wait for
	// their turn at the store.
	unrecorded = 15 * time.Second
)

// sessionTask is a task of a session.
type sessionTask struct {
	id       string
	over     bool      // there is nothing more to tell; it is known while the session lists it
	reported status    // what the client knows of it
	met      time.Time // when the session was first seen to list it
}

// status is what there is to tell of a task: a change of its times alone is none.
type status struct{ status, message string }

// nextLook is when something is to be looked at.
func (n *Notifier) nextLook() time.Time {
	if n.watch.Len() > 0 && n.watch.Next().Before(n.due) {
		return n.watch.Next()
	}
	return n.due
}

// lookAtSession finds the tasks of the session if it is due, and reports whether that is
// over. What the store cannot say is no change.
func (n *Notifier) lookAtSession(ctx context.Context) (over bool) {
	if time.Now().Before(n.due) {
		return false
	}
	n.due = time.Now().Add(n.sessions.poller.Interval(lookEvery))
	var ids []string
	err := n.sessions.poller.Read(ctx, func() (err error) {
		if over, err = n.sessions.held.SessionOver(ctx, n.session); err == nil && !over {
			ids, err = n.sessions.held.InSession(ctx, n.session)
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
func (n *Notifier) follow(ids []string) {
	var added []string
	n.tasks = slices.DeleteFunc(n.tasks, func(task *sessionTask) bool {
		return task.over && !slices.Contains(ids, task.id)
	})
	for _, id := range ids {
		if !slices.ContainsFunc(n.tasks, func(task *sessionTask) bool { return task.id == id }) {
			n.tasks = append(n.tasks, &sessionTask{id: id, reported: status{status: "working"}, met: time.Now()})
			added = append(added, id)
		}
	}
	n.watch.Add(added...)
}

// lookAtTasks looks at the tasks that are due.
func (n *Notifier) lookAtTasks(ctx context.Context) {
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
func (n *Notifier) look(ctx context.Context, task *sessionTask) (over bool) {
	view, err := n.sessions.poller.Status(ctx, task.id, n.caller.Asker())
	n.watch.Later(task.id, view.Terms.PollInterval)
	if err != nil {
		return errors.Is(err, upgrade.ErrUnknown) && time.Since(task.met) > unrecorded
	}
	if n.caller.MayAsk(ctx, view.Task) != nil {
		return view.State.Terminal() // upstreams may come to take the credentials
	}
	shown := view.Core()
	now := status{shown.Status, shown.Message}
	if now == task.reported {
		return view.State.Terminal()
	}
	if n.isToldElsewhere(ctx, view.Task) {
		task.reported = now
		return view.State.Terminal()
	}
	mine, err := n.delivery(&view.Task).Take(ctx, false)
	if err != nil && !mine {
		return false
	}
	task.reported = now
	if mine {
		n.say(ctx, reply.Event(shown.StatusNotification()))
	}
	return view.State.Terminal()
}
