//go:build !unix

package sockets

import "net"

// empty leaves what is queued to the kernel.
func (l *Listener) empty() []net.Conn { return nil }
