package tasks

import (
	"maps"
	"slices"

	"berth/internal/mcp/idtag"
	"berth/internal/mcp/taskwire"
	"berth/proxy/reply"
	"berth/sticky"
	"berth/upgrade"
)

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
		events = append(events, reply.Event(taskwire.RelatedMessage(w.numbered(ask.Request), w.task.ID))...)
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
// where it was, or has left that while it stands: answers are taken there then.
func (w *resultWait) isAtHome() bool {
	r := w.Request
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
	return w.isAt(sticky.Location{Upstream: binding.Upstream, Alias: binding.Alias}) || slices.ContainsFunc(binding.Formers(), w.isAt)
}

// isAt reports whether the task's call is in the session at that place, and has the request bear its alias.
func (w *resultWait) isAt(place sticky.Location) bool {
	if place.Upstream != w.task.Upstream {
		return false
	}
	alias, err := w.AliasIn(place.Alias)
	w.Alias = alias
	return err == nil && w.Behind() == w.task.Behind
}

// numbered is a message with what its server numbers as the client knows it.
func (w *resultWait) numbered(message []byte) []byte {
	if w.Alias == "" {
		return message
	}
	return idtag.Message(message, w.Tag())
}
