package mcptest

import "net/http"

// standingStream serves a legacy GET: a stream for what the server has to say
// of its own accord. It says which instance it comes from, then stays open
// until the client, the session or the server goes.
func (s *Server) standingStream(w http.ResponseWriter, r *http.Request) {
	sess, no := s.sessionOf(r, r.Method)
	if no != nil {
		refuse(w, nil, *no)
		return
	}
	if last := r.Header.Get("Last-Event-ID"); s.Resumable && last != "" && sess.talk != nil {
		s.resume(w, r, sess, last)
		return
	}
	stream := openStream(w, newID())
	stream.send(notification("notifications/message", map[string]any{
		"level": "info", "logger": s.Name, "data": "stream open on " + s.Name,
	}))
	select {
	case <-r.Context().Done():
	case <-sess.ended: // nil, so never, without a session
	case <-s.closed():
	}
}

// endSession serves a legacy DELETE.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request) {
	if !s.sessions.end(r.Header.Get(headerSession)) {
		s.countDenied(r.Method)
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
