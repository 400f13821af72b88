//go:build unix && !solaris && !aix

package redis

import (
	"io"
	"net"
	"os"
	"syscall"

	"berth/internal/h1/raw"
)

// socket is a connection between which and the kernel nothing stands, so that the kernel is asked, past the scheduler. One trip
// at a time uses it.
type socket struct {
	net.Conn
	kernel               syscall.RawConn
	looks, writes, reads func(fd uintptr) bool // its methods, made into functions once

	stand bool   // what look has found
	out   []byte // what is to be written
	said  bool   // the kernel was given some of it
	into  []byte // what is to be read into
	n     int    // so much was
	err   error  // the kernel's
}

// socketOf is the socket that conn is; nil: it is none, as over TLS.
func socketOf(conn net.Conn) *socket {
	of, ok := conn.(syscall.Conn)
	if !ok {
		return nil
	}
	kernel, err := of.SyscallConn()
	if err != nil {
		return nil
	}
	s := &socket{Conn: conn, kernel: kernel}
	s.looks, s.writes, s.reads = s.look, s.write, s.read
	return s
}

// stands reports whether the connection, from which nobody reads, is as it was, as far as can be told: the other side has neither
// closed it nor said something unasked.
func (s *socket) stands() bool {
	return s == nil || s.kernel.Read(s.looks) == nil && s.stand
}

func (s *socket) look(fd uintptr) bool {
	var room [1]byte
	_, _, err := syscall.Recvfrom(int(fd), room[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
	s.stand = err == syscall.EAGAIN || err == syscall.EINTR
	return true
}

// say writes out, and waits until something can be read: no read is tried in vain. What there was no room for is left; then it does
// not wait.
func (s *socket) say(out []byte) (left []byte, err error) {
	s.out, s.said, s.err = out, false, nil
	err = s.kernel.Read(s.writes)
	left, s.out = s.out, nil
	if s.said && s.err == nil {
		return left, s.failed("read", err)
	}
	return left, s.failed("write", err)
}

// write is called again when something can be read.
func (s *socket) write(fd uintptr) bool {
	if s.said {
		return true
	}
	s.said = true
	n, err := raw.Write(fd, s.out)
	s.out = s.out[n:]
	if err != nil && err != syscall.EAGAIN {
		s.err = os.NewSyscallError("write", err)
	}
	return s.err != nil || len(s.out) > 0
}

// Read implements io.Reader.
func (s *socket) Read(p []byte) (int, error) {
	s.into, s.n, s.err = p, 0, nil
	err := s.kernel.Read(s.reads)
	s.into = nil
	return s.n, s.failed("read", err)
}

// read is called again when something has come.
func (s *socket) read(fd uintptr) bool {
	n, err := raw.Read(fd, s.into)
	switch {
	case err == syscall.EAGAIN:
		return false
	case err != nil:
		s.err = os.NewSyscallError("read", err)
	case n == 0:
		s.err = io.EOF
	}
	s.n = n
	return true
}

// failed is why an operation failed, as package net words it: waiting ended with err, or the kernel said so.
func (s *socket) failed(op string, err error) error {
	if waiting, ok := err.(*net.OpError); ok {
		waiting.Op = op
	}
	if err != nil || s.err == nil {
		return err
	}
	if s.err == io.EOF {
		return io.EOF
	}
	return &net.OpError{Op: op, Net: s.LocalAddr().Network(), Source: s.LocalAddr(), Addr: s.RemoteAddr(), Err: s.err}
}
