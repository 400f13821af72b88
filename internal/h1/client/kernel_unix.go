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

// writeOnce writes what is to go out, as much as the kernel takes at once, and has the caller wait until
// something can be read: what comes after the write wakes it, so that no read is tried in vain.
func (c *conn) writeOnce(fd uintptr) bool {
	if c.tried {
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
