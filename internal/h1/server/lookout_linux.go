package server

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// lookout sees clients hang up, by one epoll instance for all who are watched: a connection that is watched costs no
// goroutine, and may be read meanwhile. What clients say is left where it is. The zero value has not begun.
type lookout struct {
	mu     sync.Mutex // guards the fields below
	epoll  *os.File   // nil: it has not begun, or has ended
	fd     int        // epoll's
	ended  bool
	latest uint64
	gone   map[uint64]func() // what is called, by the sighting
}

// sighting is one who is watched.
type sighting struct {
	raw    syscall.RawConn
	number uint64
}

// watch has gone called, in a goroutine of the lookout's that must not wait, when the other end of a
// connection has closed its sending side, or all. It reports whether it can.
func (l *lookout) watch(raw syscall.RawConn, gone func()) (sighting, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begin() {
		return sighting{}, false
	}
	l.latest++
	s := sighting{raw, l.latest}
	var err error
	event := unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLONESHOT, Fd: int32(s.number), Pad: int32(s.number >> 32)}
	failed := raw.Control(func(fd uintptr) { err = unix.EpollCtl(l.fd, unix.EPOLL_CTL_ADD, int(fd), &event) })
	if failed != nil || err != nil {
		return sighting{}, false
	}
	l.gone[s.number] = gone
	return s, true
}

// forget ends a watch. Its function may be running, or run a last time.
func (l *lookout) forget(s sighting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.gone, s.number)
	if l.epoll != nil {
		// An error means that the connection is closed, and with that forgotten.
		_ = s.raw.Control(func(fd uintptr) { _ = unix.EpollCtl(l.fd, unix.EPOLL_CTL_DEL, int(fd), nil) })
	}
}

// begin begins once there is somebody to watch. It is called with mu held.
func (l *lookout) begin() bool {
	if l.epoll != nil || l.ended {
		return !l.ended
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	if err := unix.SetNonblock(fd, true); err != nil { // so that the runtime waits for it
		_ = unix.Close(fd)
		return false
	}
	l.epoll, l.fd, l.gone = os.NewFile(uintptr(fd), "epoll"), fd, make(map[uint64]func())
	raw, err := l.epoll.SyscallConn()
	if err != nil {
		_ = l.epoll.Close()
		l.epoll, l.ended = nil, true
		return false
	}
	go l.look(raw)
	return true
}

// look tells who has gone, until the lookout ends.
func (l *lookout) look(raw syscall.RawConn) {
	events := make([]unix.EpollEvent, 64)
	for {
		n := 0
		if raw.Read(func(fd uintptr) bool {
			n, _ = unix.EpollWait(int(fd), events, 0)
			return n > 0
		}) != nil {
			return
		}
		for _, event := range events[:n] {
			l.tell(uint64(uint32(event.Fd)) | uint64(uint32(event.Pad))<<32)
		}
	}
}

func (l *lookout) tell(number uint64) {
	l.mu.Lock()
	gone := l.gone[number]
	delete(l.gone, number)
	l.mu.Unlock()
	if gone != nil {
		gone()
	}
}

// end ends the lookout. Whoever was watched is not told.
func (l *lookout) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoll != nil {
		_ = l.epoll.Close()
	}
	l.epoll, l.ended = nil, true
}
