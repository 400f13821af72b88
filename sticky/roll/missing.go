package roll

import (
	"maps"
	"sync"
	"time"
)

const (
	// StrikeAfter is how long a list must be seen to hold what its binding contradicts before that
	// is struck off: a binding that is being made, or moved, is listed first.
	StrikeAfter = 10 * time.Second

	// forgetAfter is how long what was seen counts, for who looks now and then: nobody knows what a list has held since.
	forgetAfter = time.Hour

	// crowdedAfter is forgetAfter where there is no room for others.
	crowdedAfter = 30 * StrikeAfter

	maxMissing = 10_000 // members that are looked at again
)

// missing are members that their bindings contradict. The zero value has none.
type missing struct {
	mu    sync.Mutex // guards the fields below
	seen  map[string]seen
	swept time.Time // when those were forgotten last that count no more
}

// seen is when a member was seen to be contradicted, for the first time and for the last.
type seen struct{ first, last time.Time }

// again notes that a member is contradicted, and reports whether it has been for long enough. Of more than there is room for some are
// noted once others are struck off.
func (m *missing) again(list Key, member string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, name := time.Now(), list.List()+" "+member
	if one, known := m.seen[name]; known && now.Sub(one.last) < forgetAfter {
		m.seen[name] = seen{one.first, now}
		return now.Sub(one.first) >= StrikeAfter
	} else if !known && !m.hasRoom(now) {
		return false
	}
	if m.seen == nil {
		m.seen = make(map[string]seen)
	}
	m.seen[name] = seen{now, now}
	return false
}

// hasRoom reports whether one more can be noted. The caller has the lock.
func (m *missing) hasRoom(now time.Time) bool {
	if len(m.seen) >= maxMissing && now.Sub(m.swept) >= StrikeAfter {
		m.swept = now
		maps.DeleteFunc(m.seen, func(_ string, one seen) bool { return now.Sub(one.last) >= crowdedAfter })
	}
	return len(m.seen) < maxMissing
}

// found notes that a member is not contradicted any more.
func (m *missing) found(list Key, member string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.seen, list.List()+" "+member)
}
