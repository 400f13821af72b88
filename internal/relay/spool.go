package relay

import (
	"context"
	"io"
	"sync"
	"time"
)

// partSize is how many bytes of an answer a part has at most: sealed, they are 256 KiB, which a slow
// line takes in time.
const partSize = 190 << 10

// readSize is how much is read at a time.
const readSize = 16 << 10

// spool holds what was read of an answer and is no part yet.
type spool struct {
	more chan struct{} // holds one: there is something new
	room chan struct{} // holds one: something was taken

	mu   sync.Mutex // guards the fields below
	data []byte
	err  error // what the body ended with
}

func newSpool() *spool {
	return &spool{more: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// fill reads body to its end, as long as there is room, until ctx ends.
func (s *spool) fill(ctx context.Context, body io.Reader) {
	chunk := make([]byte, readSize)
	for s.wait(ctx, func() bool { return len(s.data)+readSize <= partSize }) {
		n, err := body.Read(chunk)
		s.mu.Lock()
		s.data, s.err = append(s.data, chunk[:n]...), err
		s.mu.Unlock()
		signal(s.more)
		if err != nil {
			return
		}
	}
}

// wait waits for room of that kind.
func (s *spool) wait(ctx context.Context, enough func() bool) bool {
	for {
		s.mu.Lock()
		there := enough()
		s.mu.Unlock()
		if there {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-s.room:
		}
	}
}

// gather waits until there is something, and then until due for more of it, unless it is a part's
// worth or the end.
func (s *spool) gather(ctx context.Context, due func() time.Duration) error {
	var late <-chan time.Time
	for {
		size, ended := s.state()
		switch {
		case ended, size+readSize > partSize:
			return nil
		case size > 0 && late == nil:
			timer := time.NewTimer(due())
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.more:
		case <-late:
			return nil
		}
	}
}

func (s *spool) state() (size int, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.data), s.err != nil
}

// take returns what there is, and the body's end if it has come.
func (s *spool) take() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := s.data
	s.data = nil
	signal(s.room)
	return data, s.err
}
