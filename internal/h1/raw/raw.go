//go:build unix

package raw

import "syscall"

// Read reads what there is; syscall.EAGAIN: nothing is.
func Read(fd uintptr, p []byte) (int, error) { return whole(read, fd, p) }

// Write writes what there is room for; syscall.EAGAIN: none is.
func Write(fd uintptr, p []byte) (int, error) { return whole(write, fd, p) }

// whole makes a call again that a signal has cut short.
func whole(call func(fd uintptr, p []byte) (int, error), fd uintptr, p []byte) (int, error) {
	for {
		n, err := call(fd, p)
		if err == nil {
			return n, nil
		}
		if err != syscall.EINTR {
			return 0, err
		}
	}
}
