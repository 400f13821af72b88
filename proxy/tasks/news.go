package tasks

import (
	"bytes"
	"slices"

	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/proxy/reply"
	"berth/upgrade"
)

// sent is what a stream has told of a task on its way.
type sent struct {
	own   []byte          // params of the last progress under the token of the request
	asked map[string]bool // the keys of the open asks that were given
}

// tell gives the client what is new of the task. Of several streams one is told, but for
// progress that each has asked for.
func (w *resultWait) tell() error {
	if !w.isOpen() {
		return nil
	}
	news := append(w.news(), w.ownProgress()...)
	w.forgetClosed()
	if len(news) == 0 {
		return nil
	}
	return w.Out.WriteThrough(news)
}

// news are what one stream alone is told: nothing, if that is another one.
func (w *resultWait) news() (events []byte) {
	if !w.Face.deliveries.isFirst(w) || isClosed(w.Face.Releasing) { // those of this berth all end
		return nil
	}
	asks := w.unasked()
	if len(asks) == 0 && !w.delivery.lacks(&w.task) || !w.delivers(len(asks) > 0) {
		return nil
	}
	return slices.Concat(w.messages(), w.progressed(), w.questions(asks))
}

// lacks reports whether there is a message or progress to tell.
func (d *delivery) lacks(task *upgrade.Task) bool {
	n := len(task.Said)
	return n > 0 && task.Said[n-1].N > d.said || task.Progress != nil && !bytes.Equal(task.Progress, d.progress)
}

// messages are the notifications that came since the last look. What the server takes back
// is told to who was asked for it.
func (w *resultWait) messages() (events []byte) {
	for _, said := range w.task.Said {
		if said.N <= w.delivery.said {
			continue
		}
		w.delivery.said = said.N
		message := []byte(said.Message)
		if a, err := mcp.PeekAnswer(message, false); err == nil && a.Method == mcp.MethodCancelled {
			if !w.asked[mcp.IDKey(mcp.CancelledID(message))] {
				continue
			}
			message = w.numbered(message)
		}
		events = append(events, reply.Event(taskwire.RelatedMessage(message, w.task.ID))...)
	}
	return events
}

// progressed is the tool's last progress, under the token of the call.
func (w *resultWait) progressed() []byte {
	now := w.task.Progress
	if now == nil || bytes.Equal(now, w.delivery.progress) {
		return nil
	}
	w.delivery.progress = now
	if w.task.ProgressToken == nil {
		return nil
	}
	return reply.Event(taskwire.Progress(now, w.task.ProgressToken, w.task.ID))
}

// ownProgress is the same under the token of this request, if that gave one: clients give up
// requests that tell of none.
func (w *resultWait) ownProgress() []byte {
	now := w.task.Progress
	if now == nil || bytes.Equal(now, w.own) {
		return nil
	}
	w.own = now
	token := w.Single().ProgressToken
	if token == nil || bytes.Equal(token, w.task.ProgressToken) {
		return nil
	}
	told, _ := w.progress.Observe(taskwire.Progress(now, token, w.task.ID))
	return reply.Event(told)
}

// isClosed reports whether a channel that nobody sends on was closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
