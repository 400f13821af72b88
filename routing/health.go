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
	silentSince  time.Time     // zero: it answers, or nobody has noticed yet
	refuses      bool          // silent because nobody listens at its address
	answers      chan struct{} // closed with the end of the silence; nil without one
}

// succeed notes an answer: whatever it says, the upstream is there.
func (h *health) succeed() (back bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	back = !h.silentSince.IsZero()
	if back {
		close(h.answers)
	}
	h.failures, h.silentSince, h.refuses = 0, time.Time{}, false
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

// setSilent notes that the upstream does not answer, and whether that is because
// nobody is there.
func (h *health) setSilent(refuses bool) (first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuses = refuses
	first = h.silentSince.IsZero()
	if first {
		h.silentSince, h.answers = time.Now(), make(chan struct{})
	}
	return first
}

// stillSilent notes that a probe failed, and how. An answer that came meanwhile
// counts more.
func (h *health) stillSilent(refuses bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refuses = refuses && !h.silentSince.IsZero()
}

// Silent reports whether the upstream was found not to answer and no probe has
// got through since.
func (u *Upstream) Silent() bool {
	u.health.mu.Lock()
	defer u.health.mu.Unlock()
	return !u.health.silentSince.IsZero()
}

// Answering returns a channel that is closed once the upstream is not silent; it is
// closed already if it answers.
func (u *Upstream) Answering() <-chan struct{} {
	u.health.mu.Lock()
	defer u.health.mu.Unlock()
	if u.health.silentSince.IsZero() {
		return answering
	}
	return u.health.answers
}

// answering is what Answering returns for who answers.
var answering = func() <-chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}()

// Refuses reports whether the upstream is silent because nobody listens at its
// address, as far as the last attempt showed.
func (u *Upstream) Refuses() bool {
	u.health.mu.Lock()
	defer u.health.mu.Unlock()
	return u.health.refuses
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
