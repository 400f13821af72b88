package routing

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// health is what an upstream's answers tell about it.
type health struct {
	mu  sync.Mutex                // held while the field below is exchanged
	now atomic.Pointer[condition] // nil: the upstream answers, and nothing counts against it
}

// condition is an upstream's health at one time. Once it is health's it does not change.
type condition struct {
	failed    []time.Time // failures since the last success, the last of them, oldest first
	probation bool        // ejected since the last success: one more failure does it again
	ejections int         // in a row; each makes the next one longer
	since     time.Time   // when the first of them began
	until     time.Time   // when the last ejection ends
	cause     error       // of that

	silentSince time.Time     // zero: it answers, or nobody has noticed yet
	silence     error         // how it showed last
	confirmed   bool          // a probe has failed since
	refuses     bool          // silent because nobody listens at its address
	answers     chan struct{} // closed with the end of the silence

	failing      bool // its checks
	failingSince time.Time
	failure      error // of the last check; ErrUnchecked: there was none

	unstarted      error // why berth cannot start it; nil: it can, as far as is known
	unstartedSince time.Time

	remark string // what is to be told of it though it is well; "": nothing
}

var well = new(condition)

func (h *health) is() *condition { return cmp.Or(h.now.Load(), well) }

// change exchanges the condition for the next one.
func (h *health) change(by func(c *condition)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := *h.is()
	by(&next)
	if next.silent() || next.failing || next.unstarted != nil || next.remark != "" || len(next.failed) > 0 || next.probation || next.ejections > 0 {
		h.now.Store(&next)
	} else {
		h.now.Store(nil)
	}
}

func (c *condition) silent() bool  { return !c.silentSince.IsZero() }
func (c *condition) ejected() bool { return !c.until.IsZero() && time.Now().Before(c.until) }
func (c *condition) isUnfit() bool {
	return c.failing || c.unstarted != nil || c.silent() || c.ejected()
}

// answer notes an answer, whatever it says: the upstream is there. It reports whether that
// ends a silence that was confirmed.
func (c *condition) answer() (back bool) {
	if !c.silent() {
		return false
	}
	close(c.answers)
	back = c.confirmed
	c.silentSince, c.silence, c.confirmed, c.refuses, c.answers = time.Time{}, nil, false, false, nil
	return back
}

// fallSilent notes that the upstream does not answer.
func (c *condition) fallSilent(cause error) (first bool) {
	c.silence, c.refuses = cause, errors.Is(cause, syscall.ECONNREFUSED)
	if c.silent() {
		return false
	}
	c.silentSince, c.answers = time.Now(), make(chan struct{})
	return true
}

// confirm notes that a probe failed with cause, and returns how the silence showed before
// if this is what confirms it. An answer that came meanwhile counts more.
func (c *condition) confirm(cause error) (confirmed error) {
	if !c.silent() {
		return nil
	}
	if !c.confirmed {
		c.confirmed, confirmed = true, c.silence
	}
	c.silence, c.refuses = cause, errors.Is(cause, syscall.ECONNREFUSED)
	return confirmed
}

// Silent reports whether the upstream was found not to answer and no probe has
// got through since.
func (u *Upstream) Silent() bool { return u.health.is().silent() }

// Answering returns a channel that is closed once the upstream is not silent; it is
// closed already if it answers.
func (u *Upstream) Answering() <-chan struct{} {
	return cmp.Or(u.health.is().answers, answering)
}

// answering is what Answering returns for who answers.
var answering = func() chan struct{} {
	closed := make(chan struct{})
	close(closed)
	return closed
}()

// Refuses reports whether the upstream is silent because nobody listens at its
// address, as far as the last attempt showed.
func (u *Upstream) Refuses() bool { return u.health.is().refuses }

// DownFor returns how long the upstream has been silent, and probed in vain; 0 if
// it is not. A request that broke says nothing of the time since.
func (u *Upstream) DownFor() time.Duration {
	c := u.health.is()
	if !c.silent() {
		return 0
	}
	return max(time.Since(c.silentSince), 1)
}

// Ejected reports whether the upstream gets no unbound work for now.
func (u *Upstream) Ejected() bool { return u.health.is().ejected() }
