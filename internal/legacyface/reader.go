package legacyface

import "io"

// reader is the body of an answer that is a stream. Close may be called beside Read.
type reader struct {
	stream *stream
	woken  chan struct{} // there may be more to read, or an end
	left   func()
	stop   func() bool
	rest   []byte // of the event that is being read: the goroutine's that reads

	// What follows is guarded by stream.mu.
	next int   // the sequence number of the event to read
	over error // not nil: why there is no more
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		event, err := r.take()
		if err != nil {
			r.leave(err)
			return 0, err
		}
		if r.rest = event; event == nil {
			<-r.woken
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// take returns the next event, or nil if there is none yet.
func (r *reader) take() ([]byte, error) {
	s := r.stream
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.over != nil:
		return nil, r.over
	case r.next < s.first:
		return nil, errBehind
	case r.next < s.first+len(s.events):
		event := s.events[r.next-s.first]
		r.next++
		s.handed = max(s.handed, r.next)
		return event, nil
	case s.ended:
		return nil, io.EOF
	}
	return nil, nil
}

// Close implements io.Closer. The stream goes on, and another may read it.
func (r *reader) Close() error {
	r.leave(io.ErrClosedPipe)
	return nil
}

// leave gives the stream back, once.
func (r *reader) leave(why error) {
	s := r.stream
	s.mu.Lock()
	first := r.over == nil
	if first {
		r.over = why
		s.wake()
		s.reader = nil
	}
	s.mu.Unlock()
	if first {
		r.stop()
		r.left()
	}
}
