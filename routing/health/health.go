// Package health keeps what is known of whether one upstream is well: whether it answers, passes its checks, fails requests, and can
// be started. It says what that means for new work; who tells it, and who goes by it, is the pool.
package health

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"
)

// Health is what an upstream's answers tell about it. The zero value is that of one that is well.
type Health struct {
	mu      sync.Mutex                // held while the field below is exchanged
	now     atomic.Pointer[condition] // nil: the upstream answers, and nothing counts against it
	checked checked
}

// condition is an upstream's health at one time. Once it is Health's it does not change.
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

func (h *Health) is() *condition { return cmp.Or(h.now.Load(), well) }

// change exchanges the condition for the next one.
func (h *Health) change(by func(c *condition)) {
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

// IsWell reports whether nothing at all counts against the upstream.
func (h *Health) IsWell() bool { return h.now.Load() == nil }

// IsUnfit reports whether new work is to go elsewhere, if it can.
func (h *Health) IsUnfit() bool {
	c := h.now.Load()
	return c != nil && c.isUnfit()
}
