package sockets

import (
	"errors"
	"fmt"
	"net"
)

// CloseWrite closes the sending side of a connection. It fails with errors.ErrUnsupported if that has none of its own.
func CloseWrite(conn net.Conn) error {
	half, ok := conn.(interface{ CloseWrite() error })
	if !ok {
		return fmt.Errorf("sockets: close write: %w", errors.ErrUnsupported)
	}
	return half.CloseWrite()
}
