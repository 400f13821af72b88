//go:build unix

package systemd

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the time by the clock that the manager asks for, in microseconds.
func monotonic() int64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0
	}
	return now.Nano() / int64(time.Microsecond)
}
