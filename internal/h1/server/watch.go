package server

import (
	"errors"
	"os"
	"syscall"
	"time"

	"berth/internal/h1/buffer"
	"berth/internal/h1/lookout"
)

// watch waits for a client to hang up, by reading: for connections that the lookout does not see.
type watch struct {
	over chan struct{} // closed when nobody reads any more
	one  [1]byte       // of the next request, which has to be read to see that there is none
	came bool
}

// watch has gone called when the client hangs up, until its watch is stopped. nil: the lookout watches.
func (c *conn) watch(gone func()) *watch {
	if c.sighting == nil {
		if raw := rawOf(c); raw != nil {
			c.sighting = c.server.lookout.View(raw, lookout.Leaving)
		}
	}
	if c.sighting != nil {
		c.server.lookout.Watch(c.sighting, gone)
		return nil
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

// stopWatching leaves the connection to who reads it. w is what watch returned.
func (c *conn) stopWatching(w *watch) {
	if w == nil {
		c.server.lookout.Watch(c.sighting, nil)
		return
	}
	c.reading.exactly(time.Unix(1, 0))
	<-w.over
	if w.came {
		c.in.Add(w.one[0])
	}
}
