//go:build linux

package load

import (
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pacer ticks by a timer of the kernel's, which wakes its reader to the microsecond. A timer of Go's comes up to a
// millisecond late on an idle processor, as long as epoll_wait is its clock.
type pacer struct {
	fd       int
	timer    *os.File // reads fd
	interval time.Duration
}

func newPacer(interval time.Duration) (*pacer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("load: timerfd_create: %w", err)
	}
	return &pacer{fd: fd, timer: os.NewFile(uintptr(fd), "timerfd"), interval: interval}, nil
}

func (p *pacer) close() { _ = p.timer.Close() }

// Tick calls f n times, at rate a second, with the time that was meant.
func Tick(rate float64, n int, f func(due time.Time)) error {
	p, err := newPacer(time.Duration(float64(time.Second) / rate))
	if err != nil {
		return err
	}
	defer p.close()
	return p.each(n, f)
}

// each calls f at n points in time, one interval apart, with the time that was meant.
func (p *pacer) each(n int, f func(at time.Time)) error {
	spec := unix.NsecToTimespec(p.interval.Nanoseconds())
	start := time.Now()
	if err := unix.TimerfdSettime(p.fd, 0, &unix.ItimerSpec{Interval: spec, Value: spec}, nil); err != nil {
		return fmt.Errorf("load: timerfd_settime: %w", err)
	}
	var expired [8]byte
	for done := 0; done < n; {
		if _, err := p.timer.Read(expired[:]); err != nil {
			return fmt.Errorf("load: timerfd: %w", err)
		}
		for range binary.NativeEndian.Uint64(expired[:]) {
			done++
			f(start.Add(time.Duration(done) * p.interval))
			if done == n {
				break
			}
		}
	}
	return nil
}
