package client

import (
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
)

// counted counts what is written to a connection, and can be read without waiting.
type counted struct {
	net.Conn
	raw     syscall.RawConn // nil: the kernel cannot be asked
	written atomic.Int64
	look    look

	into    []byte // of the look under way, and what it brought
	n       int
	err     error
	attempt func(fd uintptr) bool // readOnce, kept since making it allocates
}

// look is how a read goes on for which nothing has come.
type look uint8

const (
	patient   look = iota // it waits
	impatient             // it fails as if its deadline were over
)

// PlainConn is for buffer.Plain.
func (c *counted) PlainConn() net.Conn { return c.Conn }

// Read implements [net.Conn].
func (c *counted) Read(p []byte) (int, error) {
	if c.look == impatient {
		return c.readNow(p)
	}
	return c.Conn.Read(p)
}

// readNow reads what the kernel has. If that is nothing, the error is that of a deadline that is over.
func (c *counted) readNow(p []byte) (int, error) {
	if c.attempt == nil {
		c.attempt = c.readOnce
	}
	c.into = p
	err := c.raw.Read(c.attempt)
	c.into = nil
	switch {
	case err != nil:
		return 0, err
	case c.err == syscall.EAGAIN:
		return 0, os.ErrDeadlineExceeded
	case c.err != nil:
		return 0, os.NewSyscallError("read", c.err)
	case c.n == 0:
		return 0, io.EOF
	}
	return c.n, nil
}

// Write counts first, for those who ask while it is under way, and takes back
// what did not leave.
func (c *counted) Write(p []byte) (int, error) {
	c.written.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n - len(p)))
	return n, err
}
