package standing

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Kinds of streams.
const (
	Listen  = "listen"  // a subscription (2026-07-28, "Subscriptions")
	Session = "session" // a session's stream (2025-11-25, "Listening for Messages from the Server")
)

// Streams are those that stand. The zero value has none.
type Streams struct {
	mu      sync.Mutex // guards the fields below, and each one's end
	all     map[*Stream]bool
	last    uint64
	drained bool
}

// What says what a stream is.
type What struct {
	Pool   string
	Kind   string
	Caller string // digest of the principal; "": nobody
	Tasks  int    // that it names
}

// Stream is one of them. Its exported fields do not change. A nil one counts nothing.
type Stream struct {
	What
	ID    string // no other stream of this process had it
	Since time.Time

	of     *Streams
	end    func() // is called when streams that stand are to end; nil: whoever runs it sees to that
	legs   atomic.Pointer[[]string]
	events atomic.Int64
}

// Begin adds a stream, until End.
func (s *Streams) Begin(what What) *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	begun := &Stream{What: what, ID: strconv.FormatUint(s.last, 10), Since: time.Now().UTC(), of: s}
	if s.all == nil {
		s.all = map[*Stream]bool{}
	}
	s.all[begun] = true
	return begun
}

// Drain has the streams end for which EndBy says how, those that are begun later too.
func (s *Streams) Drain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drained = true
	for stream := range s.all {
		if stream.end != nil {
			go stream.end()
		}
	}
}

// EndBy has end called, in a goroutine of its own, when streams that stand are to end. The stream may be over by then.
func (s *Stream) EndBy(end func()) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.end = end; s.of.drained {
		go end()
	}
}

// End takes the stream away.
func (s *Stream) End() {
	if s == nil {
		return
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	delete(s.of.all, s)
}

// Hears notes at which upstreams the stream stands.
func (s *Stream) Hears(upstreams ...string) {
	if s != nil {
		s.legs.Store(&upstreams)
	}
}

// Sent counts an event.
func (s *Stream) Sent() {
	if s != nil {
		s.events.Add(1)
	}
}

// Legs are the upstreams at which the stream stands.
func (s *Stream) Legs() []string {
	if legs := s.legs.Load(); legs != nil && *legs != nil {
		return *legs
	}
	return []string{}
}

// Events is how many its client was sent.
func (s *Stream) Events() int64 { return s.events.Load() }

// All are those that stand, in no order.
func (s *Streams) All() []*Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Stream, 0, len(s.all))
	for stream := range s.all {
		all = append(all, stream)
	}
	return all
}
