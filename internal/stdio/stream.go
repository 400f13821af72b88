package stdio

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What a stream remembers. What must not be lost, a question or an answer, stays beyond that.
const (
	maxEvents     = 256
	maxEventBytes = 1 << 20
)

var (
	errStreamTaken  = errors.New("stdio: the stream is being read")
	errUnknownEvent = errors.New("stdio: the stream has no such event")
	errStreamClosed = errors.New("stdio: the stream was closed by its reader")
	errStreamOver   = errors.New("stdio: nothing follows the stream's last event")
)

// stream is what one request's answer, or a session's standing stream, consists of. Its events are
// numbered from 0, and their ids are "<name>-<number>" (2025-11-25, transports, "Resumability and
// Redelivery").
type stream struct {
	name string

	mu      sync.Mutex // guards the fields below
	events  []event
	bytes   int // of events
	pending int // answers that are still to come
	next    int // number of the next event
	told    int // of those before this number all were handed out that are remembered
	reader  *streamReader
	left    time.Time     // when the last reader left; the stream's beginning before that
	ended   time.Time     // zero: it goes on
	changed chan struct{} // closed when something was added
}

type event struct {
	number int
	raw    []byte
	kept   bool // it must not be lost
}

func newStream(name string) *stream {
	return &stream{name: name, left: time.Now(), changed: make(chan struct{})}
}

// prime adds an event without data, which gives a client an id to resume from before anything is
// said.
func (s *stream) prime() { s.add(nil, false) }

// add appends a message of one line and returns its event's number.
func (s *stream) add(message []byte, kept bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := event{number: s.next, kept: kept}
	e.raw = fmt.Appendf(nil, "id: %s-%d\ndata: %s\n\n", s.name, e.number, message)
	if !s.ended.IsZero() {
		return e.number
	}
	s.next++
	s.events = append(s.events, e)
	s.bytes += len(e.raw)
	s.shrink()
	s.tell()
	return e.number
}

// answer appends a response. With the last that is awaited the stream ends.
func (s *stream) answer(message []byte) {
	s.add(message, true)
	s.mu.Lock()
	s.pending--
	last := s.pending <= 0
	s.mu.Unlock()
	if last {
		s.end()
	}
}

// shrink forgets the oldest notifications while there is too much.
func (s *stream) shrink() {
	for len(s.events) > maxEvents || s.bytes > maxEventBytes {
		i := slices.IndexFunc(s.events, func(e event) bool { return !e.kept })
		if i < 0 || i == len(s.events)-1 {
			return
		}
		s.forget(i)
	}
}

func (s *stream) forget(i int) {
	s.bytes -= len(s.events[i].raw)
	s.events = slices.Delete(s.events, i, i+1)
}

func (s *stream) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// settle lets go of a question that is open no more.
func (s *stream) settle(number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(s.events, func(e event) bool { return e.number == number }); i >= 0 {
		s.events[i].kept = false
		s.shrink()
	}
}

// end says that nothing follows.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.IsZero() {
		s.ended = time.Now()
		s.tell()
	}
}

// endsWith reports whether the stream has ended with the event of this number.
func (s *stream) endsWith(number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.ended.IsZero() && number == s.next-1
}

// state says how much is remembered, whether somebody reads, since when nobody does, whether the
// stream has ended and all of it was handed out.
func (s *stream) state() (bytes int, read bool, left, ended time.Time, told bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes, s.reader != nil, s.left, s.ended, s.told == s.next
}

// parseEventID returns the stream and the number that an event id names.
func parseEventID(id string) (name string, number int, ok bool) {
	i := strings.LastIndexByte(id, '-')
	if i < 0 {
		return "", 0, false
	}
	number, err := strconv.Atoi(id[i+1:])
	return id[:i], number, err == nil && number >= 0
}
