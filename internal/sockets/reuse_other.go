//go:build !linux

package sockets

import (
	"errors"
	"syscall"
)

// reusePort refuses: elsewhere SO_REUSEPORT gives new connections to one of the listeners alone.
func reusePort(string, string, syscall.RawConn) error {
	return errors.New("sockets: two processes share an address on Linux only")
}
