package admin

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// mostConnections are open at a listener at a time. They share the process's files with clients'.
const mostConnections = 256

// crowd bounds connections: where one comes beyond mostConnections, that goes which has waited the longest
// for a request, so that whoever holds many that ask nothing keeps nobody out.
type crowd struct {
	mu      sync.Mutex // guards the fields below
	open    int
	waiting []net.Conn // for a request, the longest first
}

// state is http.Server.ConnState.
func (c *crowd) state(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.waiting, conn); i >= 0 {
		c.waiting = slices.Delete(c.waiting, i, i+1)
	}
	switch state {
	case http.StateNew:
		c.open++
		c.waiting = append(c.waiting, conn)
		if c.open > mostConnections {
			go c.waiting[0].Close() // by TLS it takes its time
			c.waiting = slices.Delete(c.waiting, 0, 1)
		}
	case http.StateIdle:
		c.waiting = append(c.waiting, conn)
	case http.StateHijacked, http.StateClosed:
		c.open--
	}
}
