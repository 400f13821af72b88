package server

import "golang.org/x/sys/unix"

const tellsDeparture = true

// hasLeft reports whether the other end has closed its sending side, or all. What it sent before does
// not matter, and is left where it is.
func hasLeft(fd uintptr) bool {
	events := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	for {
		n, err := unix.Poll(events, 0)
		if err != unix.EINTR {
			return n > 0
		}
	}
}
