//go:build unix

package server

import (
	"os"
	"syscall"

	"berth/internal/h1/raw"
)

// writeOn writes what is left as far as there is room. It is called again when there is more, if that is in time.
func (c *conn) writeOn(fd uintptr) bool {
	w := &c.unsent
	for len(w.left) > 0 {
		n, err := raw.Write(fd, w.left)
		if err == syscall.EAGAIN {
			c.writing.until(w.at)
			return false
		}
		if err != nil {
			w.err = os.NewSyscallError("write", err)
			return true
		}
		w.left = w.left[n:]
	}
	return true
}
