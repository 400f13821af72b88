package server

import (
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// lookout sees clients hang up, by one epoll instance for all who are watched: a connection that is watched costs no
// goroutine, and may be read meanwhile. What clients say is left where it is. A connection that was watched once stays
// in sight until it ends, so that the next watch of it costs no system call. The zero value has not begun.
type lookout struct {
	mu     sync.Mutex // guards the fields below, and those of sightings
	epoll  *os.File   // nil: it has not begun, or has ended
	fd     int        // epoll's
	ended  bool
	latest uint64
	inView map[uint64]*sighting // by their numbers
}

// sighting is a connection that is in view.
type sighting struct {
	number uint64
	left   bool   // the other end has closed its sending side, or all
	gone   func() // is called when it does; nil: nobody waits for that
}

// sight brings a connection into view until it is forgotten; nil: that cannot be.
func (l *lookout) sight(raw syscall.RawConn) *sighting {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begin() {
		return nil
	}
	l.latest++
	s := &sighting{number: l.latest}
	var err error
	event := unix.EpollEvent{Events: unix.EPOLLRDHUP | unix.EPOLLONESHOT, Fd: int32(s.number), Pad: int32(s.number >> 32)}
	failed := raw.Control(func(fd uintptr) { err = unix.EpollCtl(l.fd, unix.EPOLL_CTL_ADD, int(fd), &event) })
	if failed != nil || err != nil {
		return nil
	}
	l.inView[s.number] = s
	return s
}

// watch has gone called, in a goroutine that is not the caller's and must not wait, when the other end leaves. nil: nobody
// waits for that any more, but one that is being called may go on.
func (l *lookout) watch(s *sighting, gone func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.gone = gone; s.left && gone != nil {
		go gone()
	}
}

// forget takes a connection out of view. The kernel does when it is closed.
func (l *lookout) forget(s *sighting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.inView, s.number)
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
	l.epoll, l.fd, l.inView = os.NewFile(uintptr(fd), "epoll"), fd, make(map[uint64]*sighting)
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
	var gone func()
	if s := l.inView[number]; s != nil {
		s.left, gone = true, s.gone
	}
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
