package lookout

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Lookout sees connections. The zero value has not begun.
type Lookout struct {
	mu     sync.Mutex // guards the fields below, and those of sightings
	epoll  *os.File   // nil: it has not begun, or has ended
	fd     int        // epoll's
	ended  bool
	latest uint64
	inView map[uint64]*Sighting // by their numbers
}

// Sight is what is to be seen of a connection.
type Sight uint32

const (
	Leaving  Sight = unix.EPOLLRDHUP                // the other end has closed its sending side, or all
	Arriving Sight = unix.EPOLLRDHUP | unix.EPOLLIN // that, or something has come
)

// Sighting is a connection that is in view.
type Sighting struct {
	number uint64
	of     Sight
	seen   bool        // since it was brought into view, or was to be seen again
	left   atomic.Bool // the other end was seen to have closed
	tell   func()      // is called when it is seen; nil: nobody waits for that
}

// HasLeft reports whether the other end was seen to have closed its sending side, or all.
func (s *Sighting) HasLeft() bool { return s.left.Load() }

// View brings a connection into view until it is forgotten, to be seen once; nil: that cannot be.
func (l *Lookout) View(raw syscall.RawConn, of Sight) *Sighting {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.begin() {
		return nil
	}
	l.latest++
	s := &Sighting{number: l.latest, of: of}
	if !l.control(raw, unix.EPOLL_CTL_ADD, s, uint32(of)|unix.EPOLLONESHOT) {
		return nil
	}
	l.inView[s.number] = s
	return s
}

// Again has a connection that was seen be seen once more. It reports false if that cannot be: it is closed. What the kernel has
// told before, and nobody has heard yet, is not taken for what is to be seen now.
func (l *Lookout) Again(raw syscall.RawConn, s *Sighting, of Sight) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended || l.inView[s.number] != s {
		return false
	}
	s.seen, s.of = false, of
	delete(l.inView, s.number)
	l.latest++
	s.number = l.latest
	l.inView[s.number] = s
	return l.control(raw, unix.EPOLL_CTL_MOD, s, uint32(s.of)|unix.EPOLLONESHOT)
}

// Always is Again for a connection that is seen from now on each time that something comes. What is there, and was not read when it
// was told, is not told once more.
func (l *Lookout) Always(raw syscall.RawConn, s *Sighting) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.ended && l.inView[s.number] == s && l.control(raw, unix.EPOLL_CTL_MOD, s, uint32(s.of)|unix.EPOLLET)
}

// Away has a connection that is always seen be seen no more, until it is to be again.
func (l *Lookout) Away(raw syscall.RawConn, s *Sighting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.control(raw, unix.EPOLL_CTL_MOD, s, unix.EPOLLONESHOT)
}

// control tells the kernel what is to be seen. It is called with mu held.
func (l *Lookout) control(raw syscall.RawConn, op int, s *Sighting, events uint32) bool {
	var err error
	event := unix.EpollEvent{Events: events, Fd: int32(s.number), Pad: int32(s.number >> 32)}
	failed := raw.Control(func(fd uintptr) { err = unix.EpollCtl(l.fd, op, int(fd), &event) })
	return failed == nil && err == nil
}

// Watch has tell called, in a goroutine that is not the caller's and must not wait, when the connection is seen. nil: nobody
// waits for that any more, but one that is being called may go on.
func (l *Lookout) Watch(s *Sighting, tell func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.tell = tell; s.seen && tell != nil {
		go tell()
	}
}

// Forget takes a connection out of view. The kernel does when it is closed.
func (l *Lookout) Forget(s *Sighting) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.inView, s.number)
}

// begin begins once there is somebody to watch. It is called with mu held.
func (l *Lookout) begin() bool {
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
	l.epoll, l.fd, l.inView = os.NewFile(uintptr(fd), "epoll"), fd, make(map[uint64]*Sighting)
	raw, err := l.epoll.SyscallConn()
	if err != nil {
		_ = l.epoll.Close()
		l.epoll, l.ended = nil, true
		return false
	}
	go l.look(raw)
	return true
}

// look tells who is seen, until the lookout ends.
func (l *Lookout) look(raw syscall.RawConn) {
	events := make([]unix.EpollEvent, 64)
	_ = raw.Read(func(fd uintptr) bool {
		n := len(events)
		for n == len(events) {
			n = seen(fd, events)
			for _, event := range events[:n] {
				l.tell(uint64(uint32(event.Fd))|uint64(uint32(event.Pad))<<32, event.Events)
			}
		}
		return false // the next one wakes it
	})
}

// seen takes from the kernel what there is. It waits for nothing, so that the scheduler need not know (package raw).
func seen(fd uintptr, events []unix.EpollEvent) int {
	for {
		n, _, err := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, fd, uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
		switch err {
		case 0:
			return int(n)
		case unix.EINTR:
		default:
			return 0
		}
	}
}

func (l *Lookout) tell(number uint64, events uint32) {
	l.mu.Lock()
	var tell func()
	if s := l.inView[number]; s != nil {
		s.seen, tell = true, s.tell
		if events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			s.left.Store(true)
		}
	}
	l.mu.Unlock()
	if tell != nil {
		tell()
	}
}

// End ends the lookout. Whoever was watched is not told.
func (l *Lookout) End() {
	l.mu.Lock()
	epoll := l.epoll
	l.epoll, l.ended = nil, true
	l.mu.Unlock()
	if epoll != nil {
		_ = epoll.Close() // waits for who looks, and may need mu to tell what was seen
	}
}
