package sockets

import (
	"errors"
	"math/rand/v2"
	"net"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// mostBeside bounds how many listeners are looked for at one address.
	mostBeside = 4

	// connectTime is how long a connection to oneself may take, and arriveTime how long one that stands may take to be accepted here:
	// one that comes later is taken to be another's, so that a busy machine has to have the time.
	connectTime = time.Second
	arriveTime  = 250 * time.Millisecond

	// settleTime is how long handshakes may take that were begun with a listener which closes.
	settleTime = 300 * time.Millisecond
)

// steerAway has the kernel give new connections to another listener at the same address, and waits
// for those that it has begun to give to this one. The listeners are known by their places in a row
// that nobody tells; so each place is tried, until a connection of one's own does not come here. Where
// there is no other listener nothing changes.
func (l *Listener) steerAway() {
	for place := range uint32(mostBeside) {
		if l.steer(place) != nil {
			return
		}
		mine, err := l.isMine()
		for again := 0; errors.Is(err, unix.EADDRINUSE) && again < 10; again++ {
			mine, err = l.isMine() // another port
		}
		if err != nil {
			break
		}
		if !mine {
			time.Sleep(settleTime)
			return
		}
	}
	l.steerBack()
}

// steer has all new connections go to the listener at a place (socket(7), SO_ATTACH_REUSEPORT_CBPF);
// where there is none they are spread.
func (l *Listener) steer(place uint32) error {
	program := []unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: place}}
	return l.control(func(fd int) error {
		return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &unix.SockFprog{Len: 1, Filter: &program[0]})
	})
}

// steerBack undoes steer, whoever did it.
func (l *Listener) steerBack() {
	_ = l.control(func(fd int) error { // it fails where there is nothing to undo
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DETACH_REUSEPORT_BPF, 0)
	})
}

func (l *Listener) control(do func(fd int) error) error {
	raw, err := l.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// isMine reports whether a new connection comes to this listener.
func (l *Listener) isMine() (bool, error) {
	to := *l.Addr().(*net.TCPAddr)
	if to.IP.IsUnspecified() {
		to.IP = net.IPv4(127, 0, 0, 1)
	}
	// The port is chosen here: the connection may be accepted before anybody could ask for it.
	from := &net.TCPAddr{IP: to.IP, Port: 20_000 + rand.IntN(40_000), Zone: to.Zone}
	l.probes.expect(from.String())
	probe, err := (&net.Dialer{LocalAddr: from, Timeout: connectTime}).Dial("tcp", to.String())
	if err != nil {
		return false, err
	}
	defer probe.Close()
	for waited := time.Now(); !l.probes.came.Load(); time.Sleep(time.Millisecond) {
		if time.Since(waited) > arriveTime {
			return false, nil
		}
	}
	return true, nil
}
