package server

import (
	"errors"
	"os"
	"syscall"
	"time"

	"berth/internal/h1/buffer"
)

// watch waits for a client to hang up.
type watch struct {
	sighting sighting      // where the kernel tells
	over     chan struct{} // elsewhere: closed when nobody reads any more; nil: the kernel tells
	one      [1]byte       // of the next request, which has to be read to see that there is none
	came     bool
}

// watch has gone called when the client hangs up, until stop.
func (c *conn) watch(gone func()) *watch {
	if raw := rawOf(c); raw != nil {
		if s, ok := c.server.lookout.watch(raw, gone); ok {
			return &watch{sighting: s}
		}
	}
	w := &watch{over: make(chan struct{})}
	c.reading.lift()
	go w.read(c, gone)
	return w
}

// read sees the client go by reading. Meanwhile nobody else reads the connection.
func (w *watch) read(c *conn, gone func()) {
	defer close(w.over)
	n, err := c.net.Read(w.one[:])
	if n > 0 {
		w.came = true
		return
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		gone()
	}
}

func rawOf(c *conn) syscall.RawConn {
	plain := buffer.Plain(c.net)
	if plain == nil {
		return nil
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// stop ends the watch.
func (w *watch) stop(c *conn) {
	if w.over == nil {
		c.server.lookout.forget(w.sighting)
		return
	}
	c.reading.exactly(time.Unix(1, 0))
	<-w.over
	if w.came {
		c.in.Add(w.one[0])
	}
}
