package pace

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// Enough is what a peer has to take in the time of one write, in bytes, to be given that time once more.
const Enough = 16 << 10

// Unsent is what is written to a connection of the kernel's, one write at a time. The zero value is ready.
type Unsent struct {
	left    []byte
	err     error
	attempt func(fd uintptr) bool // writeOn, kept since making it allocates
	waits   bool                  // for room, where there is none
}

// Write writes b, which has time until at; zero: any. Most of it the kernel takes at once; where it does not, limit is told until when
// the connection's writes may wait, and that anew each time that the peer is given more. It reports whether they may. Write returns how much was written.
func (u *Unsent) Write(kernel syscall.RawConn, b []byte, at time.Time, limit func(at time.Time) bool) (int, error) {
	if u.attempt == nil {
		u.attempt = u.writeOn
	}
	u.left, u.err, u.waits = b, nil, false
	err := kernel.Write(u.attempt)
	if err == nil && u.err == nil && len(u.left) > 0 {
		err = u.wait(kernel, at, limit)
	}
	n := len(b) - len(u.left)
	if u.left = nil; err == nil {
		err = u.err
	}
	return n, err
}

// wait writes the rest as there comes to be room.
func (u *Unsent) wait(kernel syscall.RawConn, at time.Time, limit func(time.Time) bool) error {
	u.waits = true
	span := time.Until(at)
	for {
		untaken := queued(kernel) + len(u.left)
		if !limit(at) {
			return os.ErrDeadlineExceeded
		}
		err := kernel.Write(u.attempt)
		if !errors.Is(err, os.ErrDeadlineExceeded) || untaken-queued(kernel)-len(u.left) < Enough {
			return err
		}
		at = time.Now().Add(span)
	}
}

// WriteParts is Write of several at once, to the connection that kernel is of. Limit is told first.
func WriteParts(to net.Conn, kernel syscall.RawConn, parts *net.Buffers, at time.Time, limit func(at time.Time) bool) error {
	span := time.Until(at)
	for {
		untaken := queued(kernel) + size(*parts)
		if !limit(at) {
			return os.ErrDeadlineExceeded
		}
		_, err := parts.WriteTo(to)
		if !errors.Is(err, os.ErrDeadlineExceeded) || untaken-queued(kernel)-size(*parts) < Enough {
			return err
		}
		at = time.Now().Add(span)
	}
}

func size(parts net.Buffers) (n int) {
	for _, part := range parts {
		n += len(part)
	}
	return n
}
