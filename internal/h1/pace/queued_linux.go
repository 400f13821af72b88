package pace

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// queued is how many bytes the kernel has that the peer's has not taken; 0: it does not say.
func queued(kernel syscall.RawConn) (n int) {
	_ = kernel.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	return n
}
