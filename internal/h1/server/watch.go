package server

import (
	"errors"
	"os"
	"syscall"
	"time"

	"berth/internal/h1/buffer"
)

// watch waits for a client to hang up. Meanwhile nobody else reads the connection.
type watch struct {
	over chan struct{}
	one  [1]byte // of the next request; where readiness is not told, it has to be read
	came bool
}

// watch has gone called when the client hangs up. stop ends it.
func (c *conn) watch(gone func()) *watch {
	w := &watch{over: make(chan struct{})}
	c.reading.lift()
	go w.run(c, gone)
	return w
}

func (w *watch) run(c *conn, gone func()) {
	defer close(w.over)
	var err error
	if raw := rawOf(c); raw != nil {
		err = raw.Read(hasLeft)
	} else {
		var n int
		if n, err = c.net.Read(w.one[:]); n > 0 {
			w.came = true
			return
		}
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		gone()
	}
}

func rawOf(c *conn) syscall.RawConn {
	plain := buffer.Plain(c.net)
	if plain == nil || !tellsDeparture {
		return nil
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}

// stop ends the watch and waits for that.
func (w *watch) stop(c *conn) {
	c.reading.exactly(time.Unix(1, 0))
	<-w.over
	if w.came {
		c.in.Add(w.one[0])
	}
}
