package preamble

import (
	"bufio"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"

	"berth/internal/sockets"

	"github.com/pires/go-proxyproto"
)

// ProxyOptions say who may pass connections on.
type ProxyOptions struct {
	Trusted func() []netip.Prefix          // peers whose connections begin with a header; no others' do
	Ended   func(peer net.Addr, err error) // hears how each reading of a header ended
}

// ReadProxy accepts connections from inner. One of a trusted peer must begin with a header of the PROXY
// protocol, and has the address in it from then on; one without is closed. The protocol forbids to
// guess whether there is one (section 2), so from all others none is read: what they send is what
// they ask.
func ReadProxy(inner net.Listener, o ProxyOptions) net.Listener {
	s := newSource(inner)
	l := s.newListener()
	go s.accept(func(conn net.Conn) {
		if !o.trusts(conn.RemoteAddr()) {
			l.offer(conn)
			return
		}
		passed, err := readHeader(conn)
		o.Ended(conn.RemoteAddr(), err)
		if err != nil {
			_ = conn.Close()
			return
		}
		l.offer(passed)
	}, l.tell)
	return l
}

func (o ProxyOptions) trusts(peer net.Addr) bool {
	address, err := netip.ParseAddrPort(peer.String())
	return err == nil && slices.ContainsFunc(o.Trusted(), func(p netip.Prefix) bool {
		return p.Contains(address.Addr().Unmap().WithZone(""))
	})
}

// readHeader reads the header that conn begins with.
func readHeader(conn net.Conn) (net.Conn, error) {
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return nil, err
	}
	passed := &passedConn{Conn: conn, rest: bufio.NewReader(conn), client: conn.RemoteAddr()}
	header, err := proxyproto.Read(passed.rest)
	if err != nil {
		return nil, err
	}
	passed.look()
	// LOCAL is the peer's own, a check of health for example; UNKNOWN is what it cannot name.
	if client, ok := header.SourceAddr.(*net.TCPAddr); ok && header.Command.IsProxy() {
		passed.client = client
	}
	return passed, conn.SetReadDeadline(time.Time{})
}

// passedConn is a connection that a peer passes on for a client.
type passedConn struct {
	net.Conn

	rest   *bufio.Reader // what came with the header, for who reads; nil: it was read
	isBare atomic.Bool   // it was
	client net.Addr
}

// RemoteAddr is the client's.
func (c *passedConn) RemoteAddr() net.Addr { return c.client }

// Read reads what follows the header.
func (c *passedConn) Read(p []byte) (int, error) {
	if c.rest == nil {
		return c.Conn.Read(p)
	}
	n, err := c.rest.Read(p)
	c.look()
	return n, err
}

// look lets go of what came with the header once it was read.
func (c *passedConn) look() {
	if c.rest.Buffered() == 0 {
		c.rest = nil
		c.isBare.Store(true)
	}
}

// CloseWrite closes the sending side, which those who serve look for by its name.
func (c *passedConn) CloseWrite() error { return sockets.CloseWrite(c.Conn) }

// PlainConn is what those who read without a buffer look for by its name. It is none while bytes that
// came with the header are left. Who writes may ask for it while another reads.
func (c *passedConn) PlainConn() net.Conn {
	if !c.isBare.Load() {
		return nil
	}
	return c.Conn
}
