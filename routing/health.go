package routing

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// health is what an upstream's answers tell about it.
type health struct {
	noted       atomic.Bool // written under mu; false: the upstream answers, and nothing counts against it
	mu          sync.Mutex  // guards the fields below
	row         row
	silentSince time.Time     // zero: it answers, or nobody has noticed yet
	silence     error         // how it showed
	confirmed   bool          // a probe has failed since
	refuses     bool          // silent because nobody listens at its address
	answers     chan struct{} // closed with the end of the silence; nil without one
}

// answered notes an answer, whatever it says: the upstream is there. It reports whether that
// ends a silence that was confirmed.
func (h *health) answered() (back bool) {
	if !h.noted.Load() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.silentSince.IsZero() {
		return false
	}
	close(h.answers)
	back = h.confirmed
	h.silentSince, h.silence, h.confirmed, h.refuses = time.Time{}, nil, false, false
	h.noted.Store(!h.row.empty())
	return back
}

// succeed notes a success, and reports whether it is the first one after an ejection.
func (h *health) succeed() (readmitted bool) {
	if !h.noted.Load() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	readmitted = h.row.clear(time.Now())
	h.noted.Store(!h.silentSince.IsZero() || !h.row.empty())
	return readmitted
}

// fail notes a failure and reports whether the upstream is due for ejection.
func (h *health) fail(e *Ejection) (due bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noted.Store(true)
	return h.row.add(time.Now(), e)
}

// eject takes the upstream out of the choice for unbound work.
func (h *health) eject(e *Ejection, cause error) (d time.Duration, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noted.Store(true)
	return h.row.eject(time.Now(), e, cause)
}

// fit reports whether nothing keeps unbound work from the upstream.
func (h *health) fit() bool {
	if !h.noted.Load() {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.silentSince.IsZero() && !time.Now().Before(h.row.until)
}

func (h *health) ejected(now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return now.Before(h.row.until)
}

// setSilent notes that the upstream does not answer.
func (h *health) setSilent(cause error) (first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.noted.Store(true)
	h.refuses = errors.Is(cause, syscall.ECONNREFUSED)
	first = h.silentSince.IsZero()
	if first {
		h.silentSince, h.silence, h.answers = time.Now(), cause, make(chan struct{})
	}
	return first
}

// stillSilent notes that a probe failed with cause, and returns how the silence showed if
// this is what confirms it. An answer that came meanwhile counts more.
func (h *health) stillSilent(cause error) (confirmed error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.silentSince.IsZero() {
		return nil
	}
	h.refuses = errors.Is(cause, syscall.ECONNREFUSED)
	if h.confirmed {
		return nil
	}
	h.confirmed = true
	return h.silence
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

// Trouble says in a few words what keeps unbound work from the upstream, and how it showed;
// "" if nothing does.
func (u *Upstream) Trouble() (state string, cause error) {
	u.health.mu.Lock()
	defer u.health.mu.Unlock()
	switch {
	case !u.health.silentSince.IsZero():
		return "does not answer", u.health.silence
	case time.Now().Before(u.health.row.until):
		return "is ejected", u.health.row.cause
	}
	return "", nil
}
