//go:build unix

package sockets

import "syscall"

// private has a socket's file be made for its owner alone, where the kernel goes by the socket's own mode:
// Linux does.
func private(fd uintptr) { _ = syscall.Fchmod(int(fd), 0o600) }
