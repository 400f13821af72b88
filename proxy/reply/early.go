package reply

import (
	"bytes"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/sse"
	"berth/internal/wire"
)

// earlyAfter is how long a client waits for an answer before it is given an early stream.
const earlyAfter = 10 * time.Second

// Early is the event stream that berth opens itself for a client that waits long for
// the plain answer to a call which a rule names. It keeps the client, and whoever stands
// between, from taking the call for dead. The answer, or the error, is its last event.
// A nil one is none: whatever waits waits, and nothing is said meanwhile.
type Early struct {
	w        *Writer
	token    []byte           // the client's for progress; nil: none
	opening  <-chan time.Time // the client has waited for long enough
	silence  *KeepAlive       // nil: the stream is not open
	progress Progress         // of berth's own, once it is open
	tells    bool             // the tool tells of its own progress
	between  bool             // the stream is open, and berth may put an event of its own there
	status   int              // the HTTP status that the answer would have had; 0: it had 200, or there is none
	gone     bool             // the client takes nothing any more
}

// BeginEarly counts the client's time from the first call on, until an early stream is to be
// opened. token is the client's for progress; nil: none.
func (w *Writer) BeginEarly(token []byte) {
	if w.Early == nil {
		w.Early = &Early{w: w, opening: time.After(earlyAfter), token: token}
	}
}

// Await runs step beside the stream, which it opens when it is time to and keeps alive
// until step has ended. step must end when the request does, and leave the client alone.
func (s *Early) Await(step func()) {
	if s == nil {
		step()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		step()
	}()
	for {
		select {
		case <-done:
			return
		case <-s.opening:
			s.open()
		case <-s.silence.Due():
			s.release(Comment)
			s.silence.Said()
		case <-s.progress.Due():
			s.release(Event(s.progress.Next()))
		}
	}
}

// During returns what step does, beside an early stream.
func During[T any](s *Early, step func() (T, error)) (result T, err error) {
	s.Await(func() { result, err = step() })
	return result, err
}

// IsOpen reports whether the client has the beginning of the stream.
func (s *Early) IsOpen() bool { return s != nil && s.silence != nil }

func (s *Early) open() {
	s.w.OwnStreamHeaders()
	s.w.WriteHeader(wire.StatusOK)
	s.between = true
	s.silence = s.w.NewKeepAlive()
	s.BeginProgress()
	s.release(Comment)
}

// BeginProgress has the client be told of progress from now on, if it asked for that, until
// the tool tells of its own.
func (s *Early) BeginProgress() {
	s.opening = nil
	if !s.tells {
		s.progress.Begin(s.token)
	}
}

// Due is when a client that has the beginning of its upstream's stream has waited for long
// enough.
func (s *Early) Due() <-chan time.Time {
	if s == nil {
		return nil
	}
	return s.opening
}

// ProgressDue is when progress is due on an upstream's stream that the early one has become.
func (s *Early) ProgressDue() <-chan time.Time {
	if s == nil {
		return nil
	}
	return s.progress.Due()
}

// Progress returns the next progress of berth's own, an event.
func (s *Early) Progress() []byte { return Event(s.progress.Next()) }

// Become ends what berth says by itself: the stream is the upstream's now.
func (s *Early) Become() { s.between = false }

// Event returns the bytes of an event as the client is to get them; raw is what they are so far.
func (s *Early) Event(piece exchange.Piece, says *mcp.Answer, raw []byte) []byte {
	if s == nil || s.token == nil || s.tells || !piece.Between || says.Method != mcp.MethodProgress {
		return raw
	}
	if p, ok := mcp.PeekProgress(piece.Message); !ok || !bytes.Equal(p.Token, s.token) {
		return raw
	}
	if told, changed := s.progress.Observe(piece.Message); changed {
		return sse.WithData(raw, told)
	}
	s.tells = true
	return raw
}

// release hands bytes to the client, flushed.
func (s *Early) release(b []byte) {
	if !s.gone {
		s.gone = s.w.WriteThrough(b) != nil
	}
}
