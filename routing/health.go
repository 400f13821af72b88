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
	downSince    time.Time // first transport failure since it last answered; zero: it answers
	silent       bool      // it does not answer at all: owned calls are not sent until a probe got through
}

// succeed notes an answer: whatever it says, the upstream is there.
func (h *health) succeed() (back bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	back = h.silent
	h.failures, h.silent, h.downSince = 0, false, time.Time{}
	if time.Now().After(h.ejectedUntil) {
		h.ejections = 0
	}
	return back
}

// fail notes a failure and reports whether the upstream is due for ejection.
// transport says that nothing came back at all.
func (h *health) fail(transport bool) (due bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures++
	if transport && h.downSince.IsZero() {
		h.downSince = time.Now()
	}
	return h.failures >= ejectAfter && time.Now().After(h.ejectedUntil)
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
	first = !h.silent
	h.silent = true
	if h.downSince.IsZero() {
		h.downSince = time.Now()
	}
	return first
}

// Silent reports whether the upstream was found not to answer and no probe has
// got through since.
func (u *Upstream) Silent() bool {
	u.health.mu.Lock()
	defer u.health.mu.Unlock()
	return u.health.silent
}

// DownFor returns how long the upstream has not answered; 0 if it last did.
func (u *Upstream) DownFor() time.Duration {
	u.health.mu.Lock()
	defer u.health.mu.Unlock()
	if u.health.downSince.IsZero() {
		return 0
	}
	return max(time.Since(u.health.downSince), 1)
}

// Ejected reports whether the upstream gets no unbound work for now.
func (u *Upstream) Ejected() bool { return u.health.ejected(time.Now()) }
