package client

import "time"

// put takes back a connection that another exchange may use.
func (h *host) put(c *conn) {
	h.mu.Lock()
	turn := h.first()
	if turn != nil {
		h.mu.Unlock()
		turn <- c
		return
	}
	h.lent--
	full := len(h.idle) >= maxIdle
	if !full {
		h.idle = append(h.idle, c)
		h.expire(idleTime)
	}
	h.mu.Unlock()
	if full {
		c.close()
	}
}

// expire has those that have rested too long closed after d. The caller holds mu.
func (h *host) expire(d time.Duration) {
	switch {
	case h.expiring:
		return
	case h.expiry == nil:
		h.expiry = time.AfterFunc(d, h.closeExpired)
	default:
		h.expiry.Reset(d)
	}
	h.expiring = true
}

func (h *host) closeExpired() {
	now := time.Now()
	h.mu.Lock()
	n := 0
	for n < len(h.idle) && now.Sub(h.idle[n].since) >= idleTime {
		n++
	}
	old := append([]*conn(nil), h.idle[:n]...)
	h.idle = append(h.idle[:0], h.idle[n:]...)
	clear(h.idle[len(h.idle) : len(h.idle)+n])
	if h.expiring = false; len(h.idle) > 0 {
		h.expire(h.idle[0].since.Add(idleTime).Sub(now))
	}
	h.mu.Unlock()
	closeAll(old)
}

// clear takes all idle connections out.
func (h *host) clear() []*conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.idle
	h.idle = nil
	return all
}

// drop closes a connection that was lent.
func (h *host) drop(c *conn) {
	h.mu.Lock()
	h.lent--
	h.mu.Unlock()
	c.close()
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.close()
	}
}
