//go:build unix

package buffer

import (
	"io"
	"syscall"

	"berth/internal/h1/raw"
)

const readsRaw = true

// tryRead reads what the kernel has. If that is nothing, memory goes back, and it is called again when
// something has come.
func (r *Reader) tryRead(fd uintptr) bool {
	r.makeRoom()
	n, err := raw.Read(fd, r.bytes[r.end:])
	r.full = r.end+n == len(r.bytes)
	switch {
	case err == syscall.EAGAIN:
		r.Release()
		return false
	case err != nil:
		r.triedErr = err
	case n == 0:
		r.triedErr = io.EOF
	default:
		r.tried = n
		r.end += n
	}
	return true
}
