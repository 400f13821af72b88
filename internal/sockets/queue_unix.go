//go:build unix

package sockets

import (
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// empty takes what the kernel has queued, without waiting for more.
func (l *Listener) empty() (all []net.Conn) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil
	}
	_ = raw.Control(func(fd uintptr) { // it fails if the socket is closed
		for len(all) < mostQueued {
			conn, err := acceptOne(int(fd))
			if err != nil {
				return
			}
			if conn != nil {
				all = append(all, conn)
			}
		}
	})
	return all
}

// acceptOne fails once nothing is queued. It returns nil for a connection that broke meanwhile.
func acceptOne(fd int) (net.Conn, error) {
	accepted, err := acceptOwn(fd)
	switch err {
	case nil:
	case unix.EINTR, unix.ECONNABORTED:
		return nil, nil
	default:
		return nil, err
	}
	if err := unix.SetNonblock(accepted, true); err != nil {
		return nil, unix.Close(accepted)
	}
	file := os.NewFile(uintptr(accepted), "accepted")
	defer file.Close() // the connection has a copy
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, nil
	}
	return conn, nil
}

// acceptOwn accepts what no process has that is started meanwhile.
func acceptOwn(fd int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	accepted, _, err := unix.Accept(fd)
	if err == nil {
		unix.CloseOnExec(accepted)
	}
	return accepted, err
}
