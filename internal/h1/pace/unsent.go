package pace

import (
	"errors"
	"net"
	"os"
	"syscall"
	"time"
)

// enough is what a peer has to take in the time of one write, in bytes, to be given that time once more.
const enough = 16 << 10

// Unsent is what is written to a connection of the kernel's, one write at a time. The zero value is ready.
type Unsent struct {
	left    []byte
	err     error
	attempt func(fd uintptr) bool // writeOn, kept since making it allocates
	waits   bool                  // for room, where there is none
}

// Write writes of b what there is room for, and returns how much that is. Most is taken whole. The rest is for Wait.
func (u *Unsent) Write(kernel syscall.RawConn, b []byte) (int, error) {
	if u.attempt == nil {
		u.attempt = u.writeOn
	}
	u.left, u.err, u.waits = b, nil, false
	err := kernel.Write(u.attempt)
	if err == nil {
		err = u.err
	}
	n := len(b) - len(u.left)
	if n == len(b) {
		u.left = nil // which is used for something else from here on
	}
	return n, err
}

// Wait writes the rest as there comes to be room, within the time until at; zero: any. Limit is told until when the connection's writes
// may wait, and that anew each time that the peer is given more; it reports whether they may. Wait returns how much was written.
func (u *Unsent) Wait(kernel syscall.RawConn, at time.Time, limit func(at time.Time) bool) (int, error) {
	u.waits = true
	rest := len(u.left)
	err := patiently(kernel, at, limit, func() int { return len(u.left) }, func() error { return kernel.Write(u.attempt) })
	n := rest - len(u.left)
	if u.left = nil; err == nil {
		err = u.err
	}
	return n, err
}

// WriteParts is Write and Wait of several at once, to the connection that kernel is of. Limit is told first.
func WriteParts(to net.Conn, kernel syscall.RawConn, parts *net.Buffers, at time.Time, limit func(at time.Time) bool) error {
	return patiently(kernel, at, limit, func() int { return size(*parts) }, func() error {
		_, err := parts.WriteTo(to)
		return err
	})
}

// patiently writes what is left, as often as the peer has taken enough of it in its time.
func patiently(kernel syscall.RawConn, at time.Time, limit func(time.Time) bool, left func() int, write func() error) error {
	for span := time.Until(at); ; at = time.Now().Add(span) {
		untaken := queued(kernel) + left()
		if !limit(at) {
			return os.ErrDeadlineExceeded
		}
		if err := write(); !errors.Is(err, os.ErrDeadlineExceeded) || untaken-queued(kernel)-left() < enough {
			return err
		}
	}
}

func size(parts net.Buffers) (n int) {
	for _, part := range parts {
		n += len(part)
	}
	return n
}
