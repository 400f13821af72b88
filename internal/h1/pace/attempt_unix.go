//go:build unix

package pace

import (
	"os"
	"syscall"

	"berth/internal/h1/raw"
)

// writeOn writes what is left as far as there is room. If it is to wait, it is called again when there is more.
func (u *Unsent) writeOn(fd uintptr) bool {
	for len(u.left) > 0 {
		n, err := raw.Write(fd, u.left)
		if err == syscall.EAGAIN {
			return !u.waits
		}
		if err != nil {
			u.err = os.NewSyscallError("write", err)
			return true
		}
		u.left = u.left[n:]
	}
	return true
}
