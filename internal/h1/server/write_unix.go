//go:build unix

package server

import (
	"os"
	"syscall"

	"berth/internal/h1/raw"
)

// writeOn writes what is left as far as there is room. If it is to wait, it is called again when there is more.
func (w *unsent) writeOn(fd uintptr) bool {
	for len(w.left) > 0 {
		n, err := raw.Write(fd, w.left)
		if err == syscall.EAGAIN {
			return !w.waits
		}
		if err != nil {
			w.err = os.NewSyscallError("write", err)
			return true
		}
		w.left = w.left[n:]
	}
	return true
}
