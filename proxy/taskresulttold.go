package proxy

import (
	"bytes"
	"maps"
	"slices"

	"berth/internal/mcp"
	"berth/upgrade"
)

// told is what a stream has told of a task on its way.
type told struct {
	said     int             // the number of the last message
	progress []byte          // params of the last progress
	asked    map[string]bool // the keys of the open asks that were given
}

// tell gives the client what is new of the task.
func (w *resultWait) tell() error {
	if !w.isOpen() {
		return nil
	}
	news := slices.Concat(w.messages(), w.progressed(), w.questions())
	if len(news) == 0 {
		return nil
	}
	return w.x.writeThrough(news)
}

// messages are the notifications that came since the last look. What the server takes back
// is told to who was asked for it.
func (w *resultWait) messages() (events []byte) {
	for _, said := range w.task.Said {
		if said.N <= w.said {
			continue
		}
		w.said = said.N
		message := []byte(said.Message)
		if a, err := mcp.PeekAnswer(message, false); err == nil && a.Method == mcp.MethodCancelled {
			if !w.asked[mcp.IDKey(mcp.CancelledID(message))] {
				continue
			}
			message = w.numbered(message)
		}
		events = append(events, event(mcp.MessageWithRelatedTask(message, w.task.ID))...)
	}
	return events
}

// progressed is the tool's last progress, under the token of the call, and of this request
// if that gave one: clients give up requests that tell of none.
func (w *resultWait) progressed() (events []byte) {
	now := w.task.Progress
	if now == nil || bytes.Equal(now, w.progress) {
		return nil
	}
	w.progress = now
	tokens := [][]byte{w.task.ProgressToken}
	if w.token != nil && !bytes.Equal(w.token, w.task.ProgressToken) {
		tokens = append(tokens, w.token)
	}
	for _, token := range tokens {
		if token != nil {
			events = append(events, event(mcp.TaskProgress(now, token, w.task.ID))...)
		}
	}
	w.rest()
	return events
}

// questions are the open asks that this stream has not given yet. Only in the session that
// the call lives in is there a way back for what a client answers.
func (w *resultWait) questions() (events []byte) {
	open := w.task.OpenAsks()
	maps.DeleteFunc(w.asked, func(key string, _ bool) bool {
		return !slices.ContainsFunc(open, func(a upgrade.Ask) bool { return a.Key == key })
	})
	open = slices.DeleteFunc(open, func(a upgrade.Ask) bool { return w.asked[a.Key] })
	if len(open) == 0 || !w.isAtHome() {
		return nil
	}
	for _, ask := range open {
		if w.asked == nil {
			w.asked = map[string]bool{}
		}
		w.asked[ask.Key] = true
		events = append(events, event(mcp.MessageWithRelatedTask(w.numbered(ask.Request), w.task.ID))...)
	}
	return events
}

// isAtHome reports whether the request is in the session of the task's call, and that is
// where it was.
func (w *resultWait) isAtHome() bool {
	x := w.x
	if w.task.Session != x.sessionKey() {
		return false
	}
	if x.session == "" {
		return true
	}
	router := x.endpoint.Router
	// Where it is now: the near cache does not know of a move by another berth.
	binding, err := router.Bindings.Reload(x.r.Context(), router.SessionKey(x.principal, x.session))
	if err != nil {
		binding, err = router.UseSession(x.r.Context(), x.principal, x.session)
	}
	if err != nil {
		return true // answers find their way as ever, once they can
	}
	alias, err := x.aliasIn(binding.Alias)
	x.alias = alias
	return err == nil && binding.Upstream == w.task.Upstream && x.behind() == w.task.Behind
}

// numbered is a message with what its server numbers as the client knows it.
func (w *resultWait) numbered(message []byte) []byte {
	if w.x.alias == "" {
		return message
	}
	return mcp.TagMessage(message, w.x.sessionTag())
}
