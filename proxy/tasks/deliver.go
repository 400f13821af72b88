package tasks

import (
	"slices"
	"sync"

	"berth/upgrade"
)

// deliveries knows the streams of this berth that wait for a task in a session, and which
// of them is told what only one may be told (2025-11-25, transports, "Multiple
// Connections"). The zero value knows none.
type deliveries struct {
	mu sync.Mutex // guards the field below, and each one's streams
	of map[deliveryKey]*delivery
}

type deliveryKey struct{ task, session string }

// delivery is what the streams of this berth have in common that wait for one task in one
// session. said and progress are of the stream that is told.
type delivery struct {
	key      deliveryKey
	right    *upgrade.Delivery
	streams  []*resultWait // the first is the one that is told
	said     int           // the number of the last message
	over     bool          // the task has ended, and all of it was told
	progress []byte        // params of the last progress: what there was before the first stream was opened may have been told
}

// join gives w its place among the streams of its task and session.
func (d *deliveries) join(w *resultWait) {
	key := deliveryKey{w.task.ID, w.SessionKey()}
	d.mu.Lock()
	defer d.mu.Unlock()
	own := d.of[key]
	if own == nil {
		own = &delivery{key: key, right: w.Face.Tasks.Sessions.Deliveries.TaskDelivery(&w.task, key.session), progress: w.task.Progress}
		if d.of == nil {
			d.of = map[deliveryKey]*delivery{}
		}
		d.of[key] = own
	}
	own.streams = append(own.streams, w)
	w.delivery, w.turn = own, make(chan struct{}, 1)
}

// leave takes w away. The one that was opened last follows it: of several that a client
// has open, that is the one whose client is most likely still there. Where the task is over
// the right stays taken: who read of the last words before the end would tell them again.
func (d *deliveries) leave(w *resultWait) {
	own := w.delivery
	if own == nil {
		return
	}
	if d.drop(own, w) && !own.over {
		own.right.GiveBack(w.HTTP.Context())
	}
}

// drop reports whether w was the last.
func (d *deliveries) drop(own *delivery, w *resultWait) (last bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	told := own.streams[0] == w
	own.over = own.over || told && w.task.State.Terminal() && !own.lacks(&w.task)
	own.streams = slices.DeleteFunc(own.streams, func(other *resultWait) bool { return other == w })
	n := len(own.streams)
	if n == 0 {
		delete(d.of, own.key)
		return true
	}
	if told {
		own.streams[0], own.streams[n-1] = own.streams[n-1], own.streams[0]
		own.streams[0].turn <- struct{}{} // it has its turn once
	}
	return false
}

// isFirst reports whether w is the stream of this berth that is told.
func (d *deliveries) isFirst(w *resultWait) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return w.delivery.streams[0] == w
}

// delivers reports whether this stream is the one that is told: of those of this berth, and
// this berth of those that have one. sure is for what must not be told twice, however rare
// the chance. What another berth tells is not told here later.
func (w *resultWait) delivers(sure bool) bool {
	mine, err := w.delivery.right.Take(w.HTTP.Context(), sure)
	if !mine && err == nil {
		w.delivery.pass(&w.task)
	}
	return mine
}

// pass notes that what there is to tell of a task was told elsewhere.
func (d *delivery) pass(task *upgrade.Task) {
	d.progress = task.Progress
	if n := len(task.Said); n > 0 {
		d.said = task.Said[n-1].N
	}
}
