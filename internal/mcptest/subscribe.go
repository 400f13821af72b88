package mcptest

import "slices"

// A SessionView is what a session's client has told an instance.
type SessionView struct {
	Version     string   // protocol version, as negotiated
	Initialized bool     // notifications/initialized came
	Level       string   // of the last logging/setLevel; "": none
	URIs        []string // resources subscribed to, in order
}

// Sessions are the sessions that live on the instance, in no order.
func (s *Server) Sessions() []SessionView {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	var views []SessionView
	for _, sess := range s.sessions.byID {
		views = append(views, SessionView{sess.version, sess.initialized, sess.level, slices.Clone(sess.uris)})
	}
	return views
}

// setUp serves what changes a session and has an empty result; ok is false for other
// methods. Any resource may be subscribed to, whether there is one or not.
func (s *Server) setUp(sessionID string, c call) (ok bool) {
	var change func(*session)
	switch uri := c.Params.URI; c.Method {
	case "logging/setLevel":
		change = func(sess *session) { sess.level = c.Params.Level }
	case "resources/subscribe":
		change = func(sess *session) { sess.uris = append(sess.uris, uri) }
	case "resources/unsubscribe":
		change = func(sess *session) {
			sess.uris = slices.DeleteFunc(sess.uris, func(have string) bool { return have == uri })
		}
	default:
		return false
	}
	s.sessions.change(sessionID, change)
	return true
}
