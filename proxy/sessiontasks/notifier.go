package sessiontasks

import (
	"context"
	"slices"
	"time"

	"berth/proxy/access"
	"berth/proxy/taskwatch"
	"berth/upgrade"
)

// Notifier is what berth itself has to say on the standing streams of one session: how
// the tasks stand whose calls are held there (notifications/tasks/status), and that the
// client has ended the session. An event goes to one of the streams, of those at other berths
// too (2025-11-25, transports, "Multiple Connections", item 2). It has a goroutine for as
// long as there is one. A nil one has nothing to say.
type Notifier struct {
	audience

	sessions *Sessions
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

// Next returns what is to be said on a stream; between says that it stands between two
// events.
func (n *Notifier) Next(between bool) <-chan []byte {
	if n == nil || !between {
		return nil
	}
	return n.events
}

// Ended is closed when the client has ended the session.
func (n *Notifier) Ended() <-chan struct{} {
	if n == nil {
		return nil
	}
	return n.over
}

// run looks at the session and its tasks until ctx ends or the session is over.
func (n *Notifier) run(ctx context.Context) {
	defer close(n.done)
	woken, stop := n.sessions.held.WatchSession(n.session)
	defer stop()
	n.watch = n.sessions.poller.Watch()
	n.sessions.poller.Count(1)
	defer func() {
		for _, d := range n.deliveries {
			d.GiveBack(ctx)
		}
		n.watch.Stop()
		n.sessions.poller.Count(-1)
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
			n.watch.TakeChanges()
		case <-time.After(time.Until(n.nextLook())):
		case <-ctx.Done():
			return
		}
	}
}

// delivery is the right to tell of a task.
func (n *Notifier) delivery(task *upgrade.Task) *upgrade.Delivery {
	var whose upgrade.Creator
	if task.Principal == "" {
		whose = task.Creator
	}
	d := n.deliveries[whose]
	if d == nil {
		d = n.sessions.held.Deliveries.SessionDelivery(n.session, whose)
		if n.deliveries == nil {
			n.deliveries = map[upgrade.Creator]*upgrade.Delivery{}
		}
		n.deliveries[whose] = d
	}
	return d
}

// isToldElsewhere reports whether streams of the session that stood earlier, at this berth,
// tell of the task, to the same caller with other credentials.
func (n *Notifier) isToldElsewhere(ctx context.Context, task upgrade.Task) bool {
	return slices.ContainsFunc(n.sessions.streams.before(n), func(other *Notifier) bool { return other.caller.MayAsk(ctx, task) == nil })
}

// say gives an event to one of the streams.
func (n *Notifier) say(ctx context.Context, event []byte) {
	select {
	case n.events <- event:
	case <-ctx.Done():
	}
}

// Leave takes a stream away, and waits for the goroutine if it was the last one.
func (n *Notifier) Leave() {
	if n == nil || !n.sessions.streams.drop(n) {
		return
	}
	n.end()
	<-n.done
}
