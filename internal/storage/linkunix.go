//go:build unix && !solaris && !aix

package storage

import (
	"net"
	"syscall"
)

// liveness looks at a connection that nobody reads from: whether the other side has closed it, or says something unasked.
type liveness struct {
	socket syscall.RawConn // nil: over TLS none can tell
	look   func(fd uintptr) bool
	stands *bool
}

func livenessOf(conn net.Conn) (l liveness) {
	of, ok := conn.(syscall.Conn)
	if !ok {
		return l
	}
	l.socket, _ = of.SyscallConn()
	l.stands = new(bool)
	var room [1]byte
	l.look = func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), room[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		*l.stands = err == syscall.EAGAIN || err == syscall.EINTR
		return true
	}
	return l
}

// is reports whether the connection stands, as far as can be told.
func (l liveness) is() bool {
	if l.socket == nil {
		return true
	}
	return l.socket.Read(l.look) == nil && *l.stands
}
