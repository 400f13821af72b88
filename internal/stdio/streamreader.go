package stdio

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"
)

// streamReader is the body of an answer that is a stream. Read is for one goroutine.
type streamReader struct {
	stream  *stream
	ctx     context.Context // of the exchange
	unwatch func() bool     // ends the watch over ctx
	last    int             // number of the event handed out last
	rest    []byte          // of it
	once    sync.Once
	closed  chan struct{}
}

// Read implements io.Reader. It waits for the next event.
func (r *streamReader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 {
		next, found, over, changed := r.stream.after(r.last)
		switch {
		case found:
			r.rest, r.last = next.raw, next.number
			continue
		case over:
			r.leave()
			return 0, io.EOF
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			r.leave()
			return 0, context.Cause(r.ctx)
		case <-r.closed:
			return 0, errStreamClosed
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close implements io.Closer: another may read the stream.
func (r *streamReader) Close() error {
	r.once.Do(func() {
		r.unwatch()
		close(r.closed)
		r.leave()
	})
	return nil
}

func (r *streamReader) leave() { r.stream.leave(r) }

// read begins to read what comes after the event of this number; -1: from the beginning.
func (s *stream) read(ctx context.Context, after int) (*streamReader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after >= s.next {
		return nil, errUnknownEvent
	}
	return s.attach(ctx, after)
}

// readAnew begins to read a standing stream for a client that resumes nothing: only what must not
// be lost is left of what was said before.
func (s *stream) readAnew(ctx context.Context, primed bool) (*streamReader, error) {
	s.mu.Lock()
	if s.reader == nil {
		s.events = slices.DeleteFunc(s.events, func(e event) bool { return !e.kept })
		s.bytes = 0
		for _, e := range s.events {
			s.bytes += len(e.raw)
		}
	}
	r, err := s.attach(ctx, -1)
	s.mu.Unlock()
	if err == nil && primed {
		s.prime()
	}
	return r, err
}

func (s *stream) attach(ctx context.Context, after int) (*streamReader, error) {
	if s.reader != nil {
		return nil, errStreamTaken
	}
	r := &streamReader{stream: s, ctx: ctx, last: after, closed: make(chan struct{})}
	r.unwatch = context.AfterFunc(ctx, r.leave)
	s.reader = r
	return r, nil
}

// after returns the first event after number, and what is closed once there is more.
func (s *stream) after(number int) (next event, found, over bool, changed chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.events {
		if e.number > number {
			s.told = max(s.told, e.number+1)
			return e, true, false, nil
		}
	}
	return event{}, false, !s.ended.IsZero(), s.changed
}

func (s *stream) leave(r *streamReader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == r {
		s.reader, s.left = nil, time.Now()
	}
}
