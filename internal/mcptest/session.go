package mcptest

import (
	"net/http"
	"slices"
	"sync"
)

const headerSession = "Mcp-Session-Id"

// A sessionTable holds the legacy sessions of one instance.
type sessionTable struct {
	mu   sync.Mutex // guards the fields below
	byID map[string]session
}

// A session is what initialize negotiated, and what the client asked for since.
type session struct {
	id      string
	version string
	ended   chan struct{} // closed by DELETE
	talk    *talk         // nil without a session

	initialized bool     // notifications/initialized came
	level       string   // of the last logging/setLevel
	uris        []string // resources subscribed to, in order
}

func (st *sessionTable) add(version string) session {
	s := session{id: newID(), version: version, ended: make(chan struct{}), talk: newTalk()}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.byID == nil {
		st.byID = map[string]session{}
	}
	st.byID[s.id] = s
	return s
}

func (st *sessionTable) get(id string) (session, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s, ok := st.byID[id]
	return s, ok
}

// change lets f change what is kept of a session.
func (st *sessionTable) change(id string, f func(*session)) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if s, ok := st.byID[id]; ok {
		s.uris = slices.Clone(s.uris)
		f(&s)
		st.byID[id] = s
	}
}

// end removes a session and ends its standing streams, its calls and theirs.
func (st *sessionTable) end(id string) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	s, ok := st.byID[id]
	if ok {
		delete(st.byID, id)
		close(s.ended)
		s.talk.end()
	}
	return ok
}

func (st *sessionTable) clear() {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, s := range st.byID {
		close(s.ended)
		s.talk.end()
	}
	st.byID = nil
}

// talks are those of all sessions.
func (st *sessionTable) talks() []*talk {
	st.mu.Lock()
	defer st.mu.Unlock()
	var all []*talk
	for _, s := range st.byID {
		all = append(all, s.talk)
	}
	return all
}

// sessionOf finds the session of a legacy request; the method is for counting. Without
// one, where that is allowed, it returns a session with an empty id. An unknown session
// is 404, so that the client initialises anew (2025-11-25 transports, "Session
// Management", items 3 and 4).
func (s *Server) sessionOf(r *http.Request, method string) (session, *refusal) {
	version, id := versionOf(r), r.Header.Get(headerSession)
	if version != "" && !slices.Contains(legacyVersions, version) {
		return session{}, badRequest("unsupported protocol version")
	}
	if s.Stateless || id == "" && s.SessionOptional {
		return session{version: version}, nil
	}
	if id == "" {
		return session{}, badRequest(headerSession + " header required")
	}
	found, ok := s.sessions.get(id)
	if !ok {
		s.countDenied(method)
		return session{}, &refusal{http.StatusNotFound, failure{Code: codeUnknownSession, Message: "session not found"}}
	}
	return found, nil
}

func badRequest(why string) *refusal {
	return &refusal{http.StatusBadRequest, failure{Code: codeBadRequest, Message: "Bad Request: " + why}}
}
