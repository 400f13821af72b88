package routing

import (
	"sync/atomic"
	"time"
)

// selection is how one of a pool's upstreams is chosen, and what it goes by beside settings and members.
type selection struct {
	load     func(u *Upstream) int     // live tasks; nil: none are known of
	freshest atomic.Pointer[time.Time] // when an upstream joined or came back last, by the monotonic clock too; nil: none has
}

// choose returns Pool.Pick's choice, whatever room there is; nil: there is none.
func (c *selection) choose(s *Settings, m *members, w Work, tried []*Upstream) *Upstream {
	best, preferred := m.candidates(w.Era, w.Prefer, tried)
	if preferred != nil {
		return preferred
	}
	return c.pick(s, w, best, m.even)
}

// pick returns the picker's choice; nil: there is none.
func (c *selection) pick(s *Settings, w Work, best []*Upstream, even bool) *Upstream {
	if len(best) == 0 {
		return nil
	}
	from := Choice{Among: best, Key: w.Key, Even: even}
	if s.CountTasks {
		from.more = c.load
	}
	if freshest := c.freshest.Load(); s.SlowStart > 0 && freshest != nil && time.Since(*freshest) < s.SlowStart {
		from.slow, from.Even = s.SlowStart, false
	}
	return s.Picker.Pick(from)
}

// home names the one of them that a picker which goes by keys would choose; "": another picker.
func (c *selection) home(s *Settings, w Work, among []*Upstream, even bool) string {
	if _, keeps := s.Picker.(Rendezvous); !keeps || w.Key == "" {
		return ""
	}
	if u := c.pick(s, w, among, even); u != nil {
		return u.Name
	}
	return ""
}

// freshen notes that an upstream joins or comes back, then.
func (c *selection) freshen(l *live, then time.Time) {
	l.fresh.Store(&then)
	for {
		last := c.freshest.Load()
		if last != nil && !last.Before(then) || c.freshest.CompareAndSwap(last, &then) {
			return
		}
	}
}
