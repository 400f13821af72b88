package coretasks

import (
	"sync"

	"berth/internal/mcp/offer"
)

// capability is whether an upstream has one.
type capability uint8

const (
	unknownYet capability = iota
	present
	missing
)

// Support is what an upstream has said of its tasks. Its methods may be called concurrently.
type Support struct {
	mu      sync.Mutex // guards the fields below
	tasks   capability // calls of tools may become tasks
	cancels capability // tasks can be cancelled
}

// Note notes from the result of an initialize whether calls of tools may become tasks, and whether these can be cancelled.
func (s *Support) Note(initialized []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tasks, s.cancels = missing, missing
	if offer.HasCoreTasks(initialized) {
		s.tasks = present
	}
	if offer.HasCapability(initialized, "tasks", "cancel") {
		s.cancels = present
	}
}

// Lacks reports whether the upstream is known to have no tasks.
func (s *Support) Lacks() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasks == missing
}

// LacksCancel reports whether the upstream is known not to cancel tasks.
func (s *Support) LacksCancel() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cancels == missing
}
