package routing

import "sync"

// maxSuspects bounds the suspect sessions of a pool that are kept.
const maxSuspects = 10_000

// suspects are sessions that their upstreams seem to have lost: held calls in them were
// refused, of which the client, who has a task's handle, hears nothing that would have it
// begin a new one. They are not kept in the store: another berth learns of one by a call of
// its own. The zero value is ready.
type suspects struct {
	mu       sync.Mutex // guards the field below
	sessions map[suspect]struct{}
}

// suspect is a session as its upstream calls it.
type suspect struct{ upstream, session string }

// Suspect has a session of u's be asked for before the next call is held in it.
func (p *Pool) Suspect(u *Upstream, session string) {
	s := &p.suspects
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions == nil || len(s.sessions) >= maxSuspects {
		s.sessions = map[suspect]struct{}{}
	}
	s.sessions[suspect{u.Name, session}] = struct{}{}
}

// Suspects reports whether a session of u's is to be asked for.
func (p *Pool) Suspects(u *Upstream, session string) bool {
	p.suspects.mu.Lock()
	defer p.suspects.mu.Unlock()
	_, ok := p.suspects.sessions[suspect{u.Name, session}]
	return ok
}

// Clear ends the suspicion: u knows the session.
func (p *Pool) Clear(u *Upstream, session string) {
	p.suspects.mu.Lock()
	defer p.suspects.mu.Unlock()
	delete(p.suspects.sessions, suspect{u.Name, session})
}
