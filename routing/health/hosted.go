package health

import "time"

// CannotStart notes that berth cannot start the upstream, which it hosts, and reports whether that is new. It counts as failing its checks.
func (h *Health) CannotStart(cause error) (first bool) {
	h.change(func(c *condition) {
		if first = c.unstarted == nil; first {
			c.unstartedSince = time.Now()
		}
		c.unstarted = cause
	})
	return first
}

// CanStart ends what CannotStart has noted.
func (h *Health) CanStart() { h.change(func(c *condition) { c.unstarted = nil }) }

// Unstarted reports whether berth could not start the upstream when it was last tried.
func (h *Health) Unstarted() bool { return h.is().unstarted != nil }

// Remark has this be told of the upstream where it is well; "": nothing.
func (h *Health) Remark(remark string) {
	if remark != h.is().remark {
		h.change(func(c *condition) { c.remark = remark })
	}
}

// EndHosting forgets what is known of one that berth hosts.
func (h *Health) EndHosting() {
	if c := h.is(); c.unstarted != nil || c.remark != "" {
		h.change(func(c *condition) { c.unstarted, c.remark = nil, "" })
	}
}
