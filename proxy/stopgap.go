package proxy

import (
	"bytes"
	"cmp"
	"strconv"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
)

const (
	// stopgapAfter is how long a client waits for an answer before it is given a stopgap.
	stopgapAfter = 10 * time.Second

	// progressEvery is how often a stopgap tells progress. Clients commonly give up
	// after 60 s without any.
	progressEvery = 15 * time.Second

	// progressSteps is how many of berth's own tellings make a progress of 1. Progress
	// must not fall (2026-07-28, "Progress"), and what the tool tells is to be more.
	progressSteps = 1e6
)

// stopgap is the event stream that berth opens itself for a client that waits long for
// the plain answer to a call which a rule names. It keeps the client, and whoever stands
// between, from taking the call for dead. The answer, or the error, is its last event.
// A nil stopgap is none: whatever waits waits, and nothing is said meanwhile.
type stopgap struct {
	x       *request
	opening <-chan time.Time // the client has waited for long enough
	silence <-chan time.Time // a comment is due; nil: the stream is not open
	beat    <-chan time.Time // progress is due; nil: not open, not asked for, or told by the tool
	token   []byte           // the client's for progress; nil: none
	told    int              // how often progress was told
	tells   bool             // the tool tells of its own progress
	between bool             // the stream is open, and berth may put an event of its own there
	status  int              // the HTTP status that the answer would have had; 0: it had 200, or there is none
	gone    bool             // the client takes nothing any more
}

// bridge returns the request's stopgap, which begins to count the first time; nil where
// nothing is to be opened. Pages of browsers get none: which of them may read an answer
// only the upstream can say (see crossOrigin), and it has not answered.
func (x *request) bridge() *stopgap {
	if x.stopgap == nil && x.rule() != nil && len(x.HTTP.Header["Origin"]) == 0 && inbound.AcceptsEvents(x.HTTP.Header) {
		x.stopgap = &stopgap{x: x, opening: time.After(stopgapAfter), token: x.Single().ProgressToken}
	}
	return x.stopgap
}

// await runs step beside the stream, which it opens when it is time to and keeps alive
// until step has ended. step must end with x.ctx, and leave the client alone.
func (s *stopgap) await(step func()) {
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
		case <-s.silence:
			s.release(comment)
		case <-s.beat:
			s.release(s.progress())
		}
	}
}

// isOpen reports whether the client has the beginning of the stream.
func (s *stopgap) isOpen() bool { return s != nil && s.silence != nil }

func (s *stopgap) open() {
	s.x.ownStreamHeaders()
	s.x.writeHeader(wire.StatusOK)
	s.between = true
	s.silence = time.Tick(cmp.Or(s.x.Endpoint.KeepAlive, defaultKeepAlive))
	s.beginProgress()
	s.release(comment)
}

// beginProgress has the client be told of progress from now on, if it asked for that, until
// the tool tells of its own.
func (s *stopgap) beginProgress() {
	s.opening = nil
	if s.token != nil && !s.tells {
		s.beat = time.Tick(progressEvery)
	}
}

// due is when a client that has the beginning of its upstream's stream has waited for long
// enough.
func (s *stopgap) due() <-chan time.Time {
	if s == nil {
		return nil
	}
	return s.opening
}

// progress returns the next telling of berth's own, an event.
func (s *stopgap) progress() []byte {
	s.told++
	return event(mcp.NewProgress(s.token, ownProgress(s.told), ""))
}

// ownProgress is the progress of the n-th telling of berth's own.
func ownProgress(n int) string { return strconv.FormatFloat(float64(n)/progressSteps, 'f', -1, 64) }

// beats is when progress is due on an upstream's stream that the stopgap has become.
func (s *stopgap) beats() <-chan time.Time {
	if s == nil {
		return nil
	}
	return s.beat
}

// heed ends berth's own progress once the tool tells of its own.
func (s *stopgap) heed(piece exchange.Piece, says *peeked) {
	if s == nil || s.token == nil || s.tells || piece.Cut || says.Method != mcp.MethodProgress {
		return
	}
	if p, ok := mcp.PeekProgress(piece.Message); ok && bytes.Equal(p.Token, s.token) {
		s.tells, s.beat = true, nil
	}
}

// release hands bytes to the client, flushed.
func (s *stopgap) release(b []byte) {
	if !s.gone {
		s.gone = s.x.write(b) != nil || s.x.flush() != nil
	}
}

// mayAnswer reports whether an answer can still be given.
func (x *request) mayAnswer() bool { return x.status == 0 || x.stopgap != nil && x.stopgap.between }

// meant is the HTTP status that tells how the request went, also where a stopgap was
// opened with 200 before that was known.
func (x *request) meant() int {
	if x.stopgap != nil && x.stopgap.status != 0 {
		return x.stopgap.status
	}
	return x.status
}
