package nethttp

import (
	"sync"
	"time"
)

// stall bounds the writes of a stream of HTTP/2, of which each ends by the time that was set last. Net/http's own deadline of a stream
// ends it though nothing is written: whoever waits for an upstream would have stalled.
type stall struct {
	end func() // the stream

	until time.Time     // zero: writes have any time
	span  time.Duration // how long that was as it was set
	timer *time.Timer

	mu      sync.Mutex
	writing bool // guarded by mu
}

// begin begins a write.
func (s *stall) begin() {
	if s.until.IsZero() {
		return
	}
	s.set(true)
	if left := time.Until(s.until); s.timer == nil {
		s.timer = time.AfterFunc(left, s.late)
	} else {
		s.timer.Reset(left)
	}
}

// over ends it.
func (s *stall) over() {
	if s.timer != nil {
		s.timer.Stop()
		s.set(false)
	}
}

func (s *stall) set(writing bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writing = writing
}

func (s *stall) late() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.writing { // else the stream may be another's by now
		s.end()
	}
}
