package memnet

import "net"

// addr is the name of one end.
type addr string

func (a addr) Network() string { return "mem" }
func (a addr) String() string  { return string(a) }

// clientAddr is where every dial seems to come from: a loopback host and port,
// since servers split a client's address into these.
const clientAddr addr = "127.0.0.1:1"

// A conn is one end of a pipe that knows the names of both.
type conn struct {
	net.Conn
	local, remote addr
}

func (c conn) LocalAddr() net.Addr  { return c.local }
func (c conn) RemoteAddr() net.Addr { return c.remote }
