package inbound

import (
	"sync"

	"berth/routing"
)

// maxSuspects bounds the suspect sessions of an endpoint that are kept.
const maxSuspects = 10_000

// Suspects are sessions that their upstreams seem to have lost: held calls in them were
// refused, of which the client, who has a task's handle, hears nothing that would have it
// begin a new one. They are not kept in the store: another berth learns of one by a call of
// its own. The zero value is ready.
type Suspects struct {
	mu       sync.Mutex // guards the field below
	sessions map[suspect]struct{}
}

// suspect is a session as its upstream calls it.
type suspect struct{ upstream, session string }

// Add has a session of u's be asked for before the next call is held in it.
func (s *Suspects) Add(u *routing.Upstream, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions == nil || len(s.sessions) >= maxSuspects {
		s.sessions = map[suspect]struct{}{}
	}
	s.sessions[suspect{u.Name, session}] = struct{}{}
}

// Has reports whether a session of u's is to be asked for.
func (s *Suspects) Has(u *routing.Upstream, session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.sessions[suspect{u.Name, session}]
	return ok
}

// Clear ends the suspicion: u knows the session.
func (s *Suspects) Clear(u *routing.Upstream, session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, suspect{u.Name, session})
}
