package tasks

import (
	"bytes"
	"maps"
	"slices"

	"berth/internal/mcp"
	"berth/proxy/reply"
	"berth/upgrade"
)

// told is what a stream has told of a task on its way.
type told struct {
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
	return w.r.Out.WriteThrough(news)
}

// news are what one stream alone is told: nothing, if that is another one.
func (w *resultWait) news() (events []byte) {
	if !w.r.Face.deliveries.isFirst(w) || isClosed(w.r.Face.Hurrying) { // those of this berth all end
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
		events = append(events, reply.Event(mcp.MessageWithRelatedTask(message, w.task.ID))...)
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
	return reply.Event(mcp.TaskProgress(now, w.task.ProgressToken, w.task.ID))
}

// ownProgress is the same under the token of this request, if that gave one: clients give up
// requests that tell of none.
func (w *resultWait) ownProgress() []byte {
	now := w.task.Progress
	if now == nil || bytes.Equal(now, w.own) {
		return nil
	}
	w.own = now
	w.progress.Rest()
	token := w.r.Single().ProgressToken
	if token == nil || bytes.Equal(token, w.task.ProgressToken) {
		return nil
	}
	return reply.Event(mcp.TaskProgress(now, token, w.task.ID))
}

// unasked are the open asks that this stream has not given yet, as far as it has seen them.
// Only in the session that the call lives in is there a way back for what a client answers.
func (w *resultWait) unasked() []upgrade.Ask {
	unasked := slices.DeleteFunc(w.task.OpenAsks(), func(a upgrade.Ask) bool { return a.Request == nil || w.asked[a.Key] })
	if len(unasked) == 0 || !w.isAtHome() {
		return nil
	}
	return unasked
}

// questions are these asks, which the stream has given from then on.
func (w *resultWait) questions(asks []upgrade.Ask) (events []byte) {
	for _, ask := range asks {
		if w.asked == nil {
			w.asked = map[string]bool{}
		}
		w.asked[ask.Key] = true
		events = append(events, reply.Event(mcp.MessageWithRelatedTask(w.numbered(ask.Request), w.task.ID))...)
	}
	return events
}

// forgetClosed forgets the asks that are open no more: their ids may come again.
func (w *resultWait) forgetClosed() {
	if len(w.asked) == 0 {
		return
	}
	open := w.task.OpenAsks()
	maps.DeleteFunc(w.asked, func(key string, _ bool) bool {
		return !slices.ContainsFunc(open, func(a upgrade.Ask) bool { return a.Key == key })
	})
}

// isAtHome reports whether the request is in the session of the task's call, and that is
// where it was.
func (w *resultWait) isAtHome() bool {
	r := w.r
	if w.task.Session != r.SessionKey() {
		return false
	}
	if r.Session == "" {
		return true
	}
	router := r.Endpoint.Router
	// Where it is now: the near cache does not know of a move by another berth.
	binding, err := router.Bindings.Reload(r.HTTP.Context(), router.SessionKey(r.Principal, r.Session))
	if err != nil {
		binding, err = router.UseSession(r.HTTP.Context(), r.Principal, r.Session)
	}
	if err != nil {
		return true // answers find their way as ever, once they can
	}
	alias, err := r.AliasIn(binding.Alias)
	r.Alias = alias
	return err == nil && binding.Upstream == w.task.Upstream && r.Behind() == w.task.Behind
}

// numbered is a message with what its server numbers as the client knows it.
func (w *resultWait) numbered(message []byte) []byte {
	if w.r.Alias == "" {
		return message
	}
	return mcp.TagMessage(message, w.r.Tag())
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
