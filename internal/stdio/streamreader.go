package stdio

import (
	"context"
	"io"
	"sync"
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
