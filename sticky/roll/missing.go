package roll

import (
	"sync"
	"time"
)

const (
	// StrikeAfter is how long a list must be seen to hold what its binding contradicts before that
	// is struck off: a binding that is being made, or moved, is listed first.
	StrikeAfter = 10 * time.Second

	maxMissing = 10_000 // members that are looked at again
)

// missing are members that their bindings contradict, and since when. The zero value has none.
type missing struct {
	mu    sync.Mutex // guards the field below
	since map[string]time.Time
}

// again notes that a member is contradicted, and reports whether it has been for long enough.
func (m *missing) again(list Key, member string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := list.List() + " " + member
	since, known := m.since[name]
	if known {
		return time.Since(since) >= StrikeAfter
	}
	if m.since == nil || len(m.since) >= maxMissing {
		m.since = make(map[string]time.Time)
	}
	m.since[name] = time.Now()
	return false
}

// found notes that a member is not contradicted any more.
func (m *missing) found(list Key, member string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.since, list.List()+" "+member)
}
