package buffer

import (
	"net"
	"syscall"
)

// wrapper is a connection around another whose bytes it does not change. PlainConn is that other, nil
// while bytes of it are still to be read from the wrapper.
type wrapper interface {
	PlainConn() net.Conn
}

// Plain returns the kernel's connection that conn is, beneath its wrappers; nil: it is none, or not yet.
func Plain(conn net.Conn) syscall.Conn {
	for {
		switch c := conn.(type) {
		case *net.TCPConn:
			return c
		case *net.UnixConn:
			return c
		case wrapper:
			conn = c.PlainConn()
		default:
			return nil
		}
	}
}

// Raw is the kernel's connection beneath the one that is read; nil: there is none, or it is not known yet.
func (r *Reader) Raw() syscall.RawConn { return r.raw }

func (r *Reader) isRaw() bool {
	if r.raw != nil || !readsRaw {
		return readsRaw
	}
	plain := Plain(r.conn)
	if plain == nil {
		return false
	}
	raw, err := plain.SyscallConn()
	if err != nil {
		return false // whoever reads hears why
	}
	r.raw = raw
	return true
}
