//go:build unix

package client

import (
	"os"
	"syscall"

	"berth/internal/h1/raw"
)

const asksKernel = true

// readOnce reads what there is, and does not wait.
func (c *counted) readOnce(fd uintptr) bool {
	c.n, c.err = raw.Read(fd, c.into)
	return true
}

// isHeard reports whether the server has ended a connection at rest, or said something that nobody asked for.
func (c *conn) isHeard(fd uintptr) bool {
	_, err := raw.Read(fd, c.one[:])
	return err != syscall.EAGAIN
}

// converse writes what is to go out, as much as the kernel takes at once, and reads what comes for it: what comes after the write
// wakes it, so that no read is tried in vain. Before, it looks whether a connection that was used is still at rest.
func (c *conn) converse(fd uintptr) bool {
	if c.tried {
		return c.in.Take(fd)
	}
	if c.used && c.isHeard(fd) {
		c.broken = errRestless
		return true
	}
	c.tried = true
	n, err := raw.Write(fd, c.out)
	c.net.written.Add(int64(n))
	c.out = c.out[n:]
	if err != nil && err != syscall.EAGAIN {
		c.broken = os.NewSyscallError("write", err)
	}
	if c.broken != nil || len(c.out)+len(c.rest) > 0 {
		return true
	}
	c.letGo()
	return false
}
