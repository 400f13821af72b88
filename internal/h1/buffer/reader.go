package buffer

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// Reader reads a connection. Make it with Reset.
type Reader struct {
	conn       net.Conn
	raw        syscall.RawConn       // nil: the kernel does not tell, or not yet
	attempt    func(fd uintptr) bool // tryRead, kept since making it allocates
	memory     *Memory               // nil: none is borrowed
	bytes      []byte                // memory's, or what it grew into
	begin, end int                   // of what came and was not taken
	err        error                 // of the connection, for good

	tried    int // what the attempt brought
	triedErr error
	full     bool // the last read had no room for more
	one      [1]byte
}

// Reset begins to read conn. What was left of another is forgotten.
func (r *Reader) Reset(conn net.Conn) {
	r.begin, r.end = 0, 0
	r.Release()
	attempt := r.attempt
	if attempt == nil {
		attempt = r.tryRead
	}
	*r = Reader{conn: conn, attempt: attempt}
}

// Buffered is how many bytes can be taken without reading the connection.
func (r *Reader) Buffered() int { return r.end - r.begin }

// Bytes are those that can be taken. Who looks at them may change them, until the next call.
func (r *Reader) Bytes() []byte { return r.bytes[r.begin:r.end] }

// Release gives memory back unless bytes lie in it that were not taken.
func (r *Reader) Release() {
	if r.begin < r.end {
		return
	}
	if r.memory != nil {
		GiveBack(r.memory)
	}
	r.memory, r.bytes, r.begin, r.end = nil, nil, 0, 0
}

// Peek returns the next n bytes, which are not taken; fewer with the reason.
func (r *Reader) Peek(n int) ([]byte, error) {
	for r.Buffered() < n {
		if err := r.Fill(); err != nil {
			return r.Bytes(), err
		}
	}
	return r.bytes[r.begin : r.begin+n], nil
}

// Discard takes the next n bytes; fewer with the reason.
func (r *Reader) Discard(n int) (int, error) {
	for left := n; ; {
		taken := min(left, r.Buffered())
		r.begin += taken
		if left -= taken; left == 0 {
			return n, nil
		}
		if err := r.Fill(); err != nil {
			return n - left, err
		}
	}
}

// Read implements [io.Reader]: it reads the connection once at most, and then straight into a
// p that is not small.
func (r *Reader) Read(p []byte) (int, error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case r.begin < r.end:
	case r.err != nil:
		return 0, r.err
	case len(p) >= Size:
		r.Release()
		n, err := r.conn.Read(p)
		r.full = n == len(p)
		if err = r.note(err); n > 0 {
			err = nil
		}
		return n, err
	default:
		if err := r.Fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.Bytes())
	r.begin += n
	return n, nil
}

// WaitReadable returns when a byte can be taken. Until then it holds no memory.
func (r *Reader) WaitReadable() error {
	switch {
	case r.begin < r.end:
		return nil
	case r.err != nil || r.isRaw():
		return r.Fill()
	}
	r.Release()
	n, err := r.conn.Read(r.one[:])
	if n > 0 {
		r.makeRoom()
		r.bytes[0], r.end = r.one[0], 1
	}
	return r.came(n, err)
}

// Fill reads what comes next, one byte at least, behind what was not taken.
func (r *Reader) Fill() error {
	switch {
	case r.err != nil:
		return r.err
	case r.isRaw():
		r.tried, r.triedErr = 0, nil
		if err := r.raw.Read(r.attempt); err != nil {
			return r.note(err)
		}
		return r.came(r.tried, r.triedErr)
	default:
		r.makeRoom()
		n, err := r.conn.Read(r.bytes[r.end:])
		r.end += n
		return r.came(n, err)
	}
}

// Filled reports whether the last read took all that it had room for, so that the kernel may have more.
func (r *Reader) Filled() bool { return r.full }

// Look reads what the kernel has already. It reports false if that is nothing, so that Fill would wait.
func (r *Reader) Look() bool {
	if r.err != nil || !r.isRaw() {
		return r.err != nil
	}
	came := false
	err := r.raw.Read(func(fd uintptr) bool {
		came = r.Take(fd)
		return true
	})
	return r.note(err) != nil || came
}

// Take is Look for whoever has asked the kernel for its descriptor.
func (r *Reader) Take(fd uintptr) bool {
	r.tried, r.triedErr = 0, nil
	if !r.tryRead(fd) {
		return false
	}
	_ = r.came(r.tried, r.triedErr)
	return true
}

// came tells an error only if nothing came before it.
func (r *Reader) came(n int, err error) error {
	switch {
	case n == 0 && err == nil:
		return io.ErrNoProgress
	case n == 0:
		r.Release()
		return r.note(err)
	}
	_ = r.note(err)
	return nil
}

// note keeps an error that is for good, which a deadline's is not.
func (r *Reader) note(err error) error {
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		r.err = err
	}
	return err
}

// makeRoom has memory behind what was not taken.
func (r *Reader) makeRoom() {
	switch {
	case r.bytes == nil:
		r.memory = Borrow()
		r.bytes = r.memory[:]
	case r.begin == r.end:
		r.begin, r.end = 0, 0
	case r.end < len(r.bytes):
	case r.begin > 0:
		r.end = copy(r.bytes, r.Bytes())
		r.begin = 0
	default:
		grown := make([]byte, 2*len(r.bytes))
		copy(grown, r.bytes)
		if r.memory != nil {
			GiveBack(r.memory)
		}
		r.memory, r.bytes = nil, grown
	}
}

// Add puts a byte that was read from the connection by other means behind those that were not taken.
func (r *Reader) Add(b byte) {
	r.makeRoom()
	r.bytes[r.end] = b
	r.end++
}
