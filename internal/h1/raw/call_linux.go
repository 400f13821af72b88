//go:build linux && !race

package raw

import (
	"syscall"
	"unsafe"
)

func read(fd uintptr, p []byte) (int, error) { return call(syscall.SYS_READ, fd, p) }

func write(fd uintptr, p []byte) (int, error) { return call(syscall.SYS_WRITE, fd, p) }

func call(number, fd uintptr, p []byte) (int, error) {
	n, _, err := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}
