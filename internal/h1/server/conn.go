package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"berth/internal/h1/buffer"
	"berth/internal/h1/lookout"
	"berth/internal/h1/pace"
	"berth/internal/lapse"
)

// What a connection is about.
const (
	busy int32 = iota // with a request, or one is awaited for the first time
	idle
	closed // by the server
)

// conn is a connection of a client. All but its state, departure and unbounded belongs to its goroutine.
type conn struct {
	server  *Server
	net     net.Conn
	in      buffer.Reader
	reading bound
	writing bound
	unsent  pace.Unsent
	limited func(time.Time) bool // limit, kept since making it allocates
	state   atomic.Int32
	remote  string
	peer    netip.Addr           // remote's address
	tls     *tls.ConnectionState // nil: none

	awaitsHead bool      // its time runs
	began      time.Time // when the connection was accepted
	headWaits  func()    // awaitHead, kept since making it allocates

	sighting *lookout.Sighting // nil: the lookout does not see the connection, or has not been asked to

	departure atomic.Pointer[departure] // of the request that is served; nil: none is
	unbounded atomic.Bool               // the answer that has begun ends with the connection
}

func newConn(s *Server, inner net.Conn) *conn {
	c := &conn{server: s, net: inner, began: time.Now()}
	c.reading.set, c.writing.set = inner.SetReadDeadline, inner.SetWriteDeadline
	c.headWaits, c.limited = c.awaitHead, c.limit
	c.in.Reset(inner)
	return c
}

// serve serves requests until one was the last.
func (c *conn) serve() {
	isHeld := false
	defer func() {
		if !isHeld {
			c.end(recover())
		}
	}()
	isHeld = c.begin() && c.serveAll()
}

// begin waits for the first request. It reports whether there is one.
func (c *conn) begin() bool {
	if address := c.net.RemoteAddr(); address != nil {
		c.remote = address.String()
		peer, _ := netip.ParseAddrPort(c.remote) // of other sockets it is none
		c.peer = peer.Addr()
	}
	if !c.shakeHands() {
		return false
	}
	return c.awaitFirst()
}

// awaitFirst waits for the first request to begin. A client may have opened the connection for later: one that says nothing for as
// long as a head may take counts as idle, all the while.
func (c *conn) awaitFirst() bool {
	since := lapse.From(c.began)
	if o := &c.server.options; 0 < o.Idle && o.Idle < o.HeaderRead {
		c.reading.until(since.Add(o.Idle))
	} else {
		c.awaitHead()
	}
	err := c.in.WaitReadable()
	c.awaitsHead = false
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return c.rest(since)
	}
	return err == nil
}

// serveAll serves the request that has begun to come, and those after it. It reports whether the last one's answer is held:
// then the connection is another goroutine's.
func (c *conn) serveAll() bool {
	for {
		switch turns.Get().(*turn).serve(c) {
		case held:
			return true
		case last:
			return false
		}
		if !c.await() {
			return false
		}
	}
}

// await waits for the next request to begin, whose head has its time from then on.
func (c *conn) await() bool {
	if c.in.Buffered() == 0 && !c.rest(lapse.From(c.began)) {
		return false
	}
	c.awaitsHead = false
	return true
}

// awaitHead lets the time run that a head has, once more of it is to come.
func (c *conn) awaitHead() {
	if d := c.server.options.HeaderRead; d > 0 && !c.awaitsHead {
		c.awaitsHead = true
		c.reading.exactly(lapse.From(c.began).Add(d))
	}
}

// rest waits for the connection to be of use again, which has been idle since then.
func (c *conn) rest(since time.Time) bool {
	if d := c.server.options.Idle; d > 0 {
		c.reading.until(since.Add(d))
	} else {
		c.reading.lift()
	}
	c.state.Store(idle)
	if c.server.closing.Load() { // whoever closes idle ones may have missed this one
		return false
	}
	resting.Pass()
	return c.in.WaitReadable() == nil && c.state.CompareAndSwap(idle, busy)
}

// cut closes the connection from without.
func (c *conn) cut() {
	c.state.Store(closed)
	if c.unbounded.Load() {
		c.breakOff()
	}
	_ = c.net.Close()
	if d := c.departure.Load(); d != nil {
		d.end()
	}
}

// breakOff has the connection end with a reset, and over TLS without the word that it ends: an end as any other would be that of the answer.
func (c *conn) breakOff() {
	beneath := c.net
	s, isSecure := beneath.(secure)
	if isSecure {
		beneath = s.NetConn()
	}
	if tcp, ok := buffer.Plain(beneath).(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	if isSecure {
		_ = beneath.Close()
	}
}

// end closes the connection, come what may. caught is what its goroutine has panicked with; nil: it has not.
func (c *conn) end(caught any) {
	if caught != nil {
		// The value may hold anything that a client sent; its type and the stack do not.
		c.server.options.Logger.Error("panic while serving a connection", "type", fmt.Sprintf("%T", caught), "stack", string(debug.Stack()))
		if c.unbounded.Load() {
			c.breakOff()
		}
	}
	_ = c.net.Close()
	if d := c.departure.Load(); d != nil {
		d.end()
		d.stopWatching()
	}
	if c.sighting != nil {
		c.server.lookout.Forget(c.sighting)
	}
	c.in.Reset(nil)
	c.server.leave(c)
}
