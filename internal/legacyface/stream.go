package legacyface

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Bounds of what a stream keeps for those who resume it, and all ended streams of a session.
const (
	maxKept      = 256
	maxKeptBytes = 1 << 20
	maxUnheard   = 64 << 10 // bytes of the standing stream while nobody reads it
)

// standing is the number of the stream that belongs to no call.
const standing = 0

var (
	errStands = errors.New("legacyface: another reads the stream")
	errGone   = errors.New("legacyface: what follows that event is not kept any more")
	errBehind = errors.New("legacyface: the reader fell behind")
	errOver   = errors.New("legacyface: nothing follows the stream's last event")
)

// stream is a stream of events to a client, who may come back to it.
type stream struct {
	number int // in its session

	mu     sync.Mutex // guards the fields below
	events [][]byte   // raw, the oldest first
	first  int        // the sequence number of events[0]
	size   int        // bytes of events
	handed int        // the sequence number up to which events were handed out
	ended  bool
	reader *reader // nil: nobody reads
}

// prime adds an event without a message, for its id. Clients before 2025-11-25 take empty data
// for a broken message: they are given none.
func (s *stream) prime(data bool) {
	if data {
		s.push("data: \n\n")
	} else {
		s.push("\n")
	}
}

// add adds a message.
func (s *stream) add(message []byte) {
	var event strings.Builder
	// A CR in JSON is a blank: elsewhere it is escaped.
	for line := range bytes.SplitSeq(bytes.ReplaceAll(message, []byte("\r"), []byte(" ")), []byte("\n")) {
		event.WriteString("data: ")
		event.Write(line)
		event.WriteByte('\n')
	}
	event.WriteByte('\n')
	s.push(event.String())
}

// push adds an event, which lacks but its id. The newest one is kept however large it is.
func (s *stream) push(event string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	raw := []byte("id: " + eventID(s.number, s.first+len(s.events)) + "\n" + event)
	s.events, s.size = append(s.events, raw), s.size+len(raw)
	drop, most := 0, maxKeptBytes
	if s.number == standing && s.reader == nil {
		most = maxUnheard
	}
	for len(s.events)-drop > 1 && (len(s.events)-drop > maxKept || s.size > most) {
		s.size -= len(s.events[drop])
		drop++
	}
	s.events, s.first = slices.Delete(s.events, 0, drop), s.first+drop
	s.wake()
}

// end ends the stream behind its last event.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.wake()
}

// wake has the reader look again. The caller holds mu.
func (s *stream) wake() {
	if s.reader != nil {
		select {
		case s.reader.woken <- struct{}{}:
		default:
		}
	}
}

// isRead reports whether somebody reads the stream.
func (s *stream) isRead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reader != nil
}

// kept returns how many events the stream keeps, and their bytes.
func (s *stream) kept() (events, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events), s.size
}

// fresh is from where somebody reads who has not said what the last event was.
const fresh = -1

// read returns a reader of what follows the event numbered after, until ctx ends. left is told
// when it is done. The error is errStands, errGone or, of a call's stream, errOver.
func (s *stream) read(ctx context.Context, after int, left func()) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := after + 1
	if after == fresh {
		next = max(s.handed, s.first)
	}
	switch {
	case s.reader != nil:
		return nil, errStands
	case next < s.first || next > s.first+len(s.events):
		return nil, errGone
	case s.ended && s.number != standing && after != fresh && next == s.first+len(s.events):
		return nil, errOver
	}
	r := &reader{stream: s, next: next, woken: make(chan struct{}, 1), left: left}
	s.reader = r
	r.stop = context.AfterFunc(ctx, func() { r.leave(context.Cause(ctx)) })
	return r, nil
}

// eventID names an event of a session.
func eventID(stream, sequence int) string {
	return strconv.Itoa(stream) + "-" + strconv.Itoa(sequence)
}

// parseEventID is the reverse of eventID.
func parseEventID(id string) (stream, sequence int, ok bool) {
	s, q, _ := strings.Cut(id, "-")
	stream, errStream := strconv.Atoi(s)
	sequence, errSequence := strconv.Atoi(q)
	return stream, sequence, errStream == nil && errSequence == nil && eventID(stream, sequence) == id && stream >= 0 && sequence >= 0
}
