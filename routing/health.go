package routing

import (
	"sync"
	"time"
)

// Passive ejection, after the habits of Envoy's outlier detection.
const (
	ejectAfter  = 5 // consecutive failures
	ejectionMin = 5 * time.Second
	ejectionMax = time.Minute
)

// health is what an upstream's answers tell about it.
type health struct {
	mu           sync.Mutex // guards the fields below
	failures     int        // consecutive
	ejections    int        // in a row; each makes the next one longer
	ejectedUntil time.Time
	silentSince  time.Time // zero: it answers, or nobody has noticed yet
}

// succeed notes an answer: whatever it says, the upstream is there.
func (h *health) succeed() (back bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	back = !h.silentSince.IsZero()
	h.failures, h.silentSince = 0, time.Time{}
	if !time.Now().Before(h.ejectedUntil) {
		h.ejections = 0
	}
	return back
}

// fail notes a failure and reports whether the upstream is due for ejection.
func (h *health) fail() (due bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures++
	return h.failures >= ejectAfter && !time.Now().Before(h.ejectedUntil)
}

// eject takes the upstream out of the choice for unbound work. Afterwards one
// more failure ejects it again, for longer.
func (h *health) eject() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ejections++
	d := min(time.Duration(h.ejections)*ejectionMin, ejectionMax)
	h.ejectedUntil = time.Now().Add(d)
	h.failures = ejectAfter - 1
	return d
}

func (h *health) ejected(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Before(h.ejectedUntil)
}

func (h *health) setSilent() (first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first = h.silentSince.IsZero()
	if first {
		h.silentSince = time.Now()
	}
	return first
}

// Silent reports whether the upstream was found not to answer and no probe has
// got through since.
func (u *Upstream) Silent() bool {
	u.health.mu.Lock()
	defer u.health.mu.Unlock()
	return !u.health.silentSince.IsZero()
}

// DownFor returns how long the upstream has been silent, and probed in vain; 0 if
// it is not. A request that broke says nothing of the time since.
func (u *Upstream) DownFor() time.Duration {
	u.health.mu.Lock()
	defer u.health.mu.Unlock()
	if u.health.silentSince.IsZero() {
		return 0
	}
	return max(time.Since(u.health.silentSince), 1)
}

// Ejected reports whether the upstream gets no unbound work for now.
func (u *Upstream) Ejected() bool { return u.health.ejected(time.Now()) }
