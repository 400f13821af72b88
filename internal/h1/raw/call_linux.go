//go:build linux && (amd64 || arm64) && !race

package raw

import (
	"syscall"
	"unsafe"
)

func read(fd uintptr, p []byte) (int, error) { return call(syscall.SYS_RECVFROM, fd, p) }

func write(fd uintptr, p []byte) (int, error) { return call(syscall.SYS_SENDTO, fd, p) }

// call asks of a socket what read and write do, without the steps by which the kernel comes from any descriptor to one.
func call(number, fd uintptr, p []byte) (int, error) {
	const flags = syscall.MSG_DONTWAIT | syscall.MSG_NOSIGNAL
	n, _, err := syscall.RawSyscall6(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), flags, 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}
