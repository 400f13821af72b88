package sockets

import (
	"net"
	"sync/atomic"
)

// probes are connections of a listener's own, by which it finds out whether it is given new ones. The
// zero value expects none.
type probes struct {
	expected atomic.Pointer[string] // the address that it comes from; nil: none does
	came     atomic.Bool
}

// take takes a connection that is a probe: nobody else is to see it.
func (p *probes) take(conn net.Conn) bool {
	from := p.expected.Load()
	if from == nil || *from != conn.RemoteAddr().String() {
		return false
	}
	p.came.Store(true)
	_ = conn.Close() // nothing was sent on it
	return true
}

// expect is told where the next probe comes from.
func (p *probes) expect(from string) {
	p.came.Store(false)
	p.expected.Store(&from)
}
