package client

import (
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/buffer"
)

const (
	// atOnce is what a connection takes without waiting, when all before has arrived: the least that a kernel
	// has room for.
	atOnce = 8 << 10
	// together is how long a request may be to be copied into one piece, which is one write.
	together = 64 << 10
)

// lastWrite is how long the end of a request is waited for after the answer's.
const lastWrite = 50 * time.Millisecond

// pieces are memory for requests that are longer than usual.
var pieces = sync.Pool{New: func() any { return new([together]byte) }}

// writing is the request of an exchange, as far as it is still to be written.
type writing struct {
	out    []byte        // its head, and what is in one piece with it
	rest   []byte        // of its body, behind that
	tried  bool          // the kernel was given some
	broken error         // what ended the writing before its end
	done   chan struct{} // closed when a goroutine of its own has written it; nil: there is none

	memory *buffer.Memory // what out lies in, or
	piece  *[together]byte
}

// letGo gives back what out lay in.
func (w *writing) letGo() {
	if w.memory != nil {
		buffer.GiveBack(w.memory)
	}
	if w.piece != nil {
		pieces.Put(w.piece)
	}
	w.out, w.rest, w.memory, w.piece = nil, nil, nil, nil
}

// prepare lays out a request; o is how the one before began.
func (w *writing) prepare(r *exchange.Request, o *opening) (keep bool, err error) {
	*w = writing{memory: buffer.Borrow()}
	w.out, keep, err = appendHead(w.memory[:0], r, o)
	if err != nil {
		return false, err
	}
	size := len(w.out) + len(r.Body)
	switch {
	case size <= cap(w.out):
		w.out = append(w.out, r.Body...)
	case size <= together:
		w.piece = pieces.Get().(*[together]byte)
		w.out = append(append(w.piece[:0], w.out...), r.Body...)
	default:
		w.rest = r.Body
	}
	return keep, nil
}

// write writes a request, or has it written. An error means that none of it was.
func (c *conn) write(r *exchange.Request) (err error) {
	if c.keep, err = c.prepare(r, &c.opening); err != nil {
		return err
	}
	r.Written = c.rest == nil // all of it was copied
	switch {
	case c.net.raw == nil:
	case c.secure == nil:
		err = c.writeAndWait()
	case len(c.out)+len(c.rest) <= atOnce:
		_, c.broken = c.secure.Write(c.out)
		c.letGo()
	}
	switch {
	case err != nil:
		return err
	case c.broken != nil:
		if c.net.written.Load() == c.before {
			return c.broken
		}
	case len(c.out) > 0 || len(c.rest) > 0:
		c.done = make(chan struct{})
		go c.writeRest()
	}
	return nil
}

// writeAndWait has the kernel's connection converse: it writes, and waits for an answer unless there is more to write.
func (c *conn) writeAndWait() error {
	for {
		err := c.net.raw.Read(c.step)
		switch {
		case err == nil:
			return nil
		case !c.goesOn(err):
			return err
		case c.tried:
			return nil
		}
	}
}

// writeRest writes beside the reading of the answer, which may come before the request is read.
func (c *conn) writeRest() {
	defer close(c.done)
	to := c.net.Write
	if c.secure != nil {
		to = c.secure.Write
	}
	if _, c.broken = to(c.out); c.broken == nil && len(c.rest) > 0 {
		_, c.broken = to(c.rest)
	}
}

// endWriting reports whether the request was written whole, and sees to it that nobody writes any more.
func (c *conn) endWriting(usable bool) bool {
	whole := usable
	if c.done != nil && !c.hasWritten(usable) {
		whole = false
		_ = c.net.Close()
		<-c.done
	}
	whole = whole && c.broken == nil
	c.letGo()
	c.writing = writing{}
	return whole
}

// hasWritten reports whether nobody writes any more. If the connection could be used again, it waits a little for that: who wrote
// may not have heard yet that all is written.
func (c *conn) hasWritten(usable bool) bool {
	if !usable {
		select {
		case <-c.done:
			return true
		default:
			return false
		}
	}
	timer := time.NewTimer(lastWrite)
	defer timer.Stop()
	select {
	case <-c.done:
		return true
	case <-timer.C:
		return false
	}
}
