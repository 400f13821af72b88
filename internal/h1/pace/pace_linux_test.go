package pace

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"berth/internal/realtest"
)

const span = 500 * time.Millisecond

// slow is a pair whose near end finds room again only once hundreds of KiB were taken.
func slow(t *testing.T) (near, client *net.TCPConn) {
	t.Helper()
	a, b := realtest.Pair(t)
	near, client = a.(*net.TCPConn), b.(*net.TCPConn)
	if err := client.SetReadBuffer(128 << 10); err != nil {
		t.Fatal(err)
	}
	return near, client
}

// take has a client take so many bytes at a time, ten times a second, until the test ends or it has all.
func take(t *testing.T, client io.Reader, bytes int) {
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			if _, err := io.CopyN(io.Discard, client, int64(bytes)); err != nil {
				return
			}
			select {
			case <-ended:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { close(ended); <-over })
}

// ways are those in which there is written, each within the span.
var ways = map[string]func(near *net.TCPConn, b []byte) error{
	"one": func(near *net.TCPConn, b []byte) error {
		kernel, err := near.SyscallConn()
		if err != nil {
			return err
		}
		var u Unsent
		if n, err := u.Write(kernel, b); err != nil || n == len(b) {
			return err
		}
		_, err = u.Wait(kernel, time.Now().Add(span), limiting(near))
		return err
	},
	"parts": func(near *net.TCPConn, b []byte) error {
		kernel, err := near.SyscallConn()
		if err != nil {
			return err
		}
		return WriteParts(near, kernel, &net.Buffers{b[:10], b[10:]}, time.Now().Add(span), limiting(near))
	},
	"conn": func(near *net.TCPConn, b []byte) error {
		c := &conn{Conn: near}
		if err := c.SetWriteDeadline(time.Now().Add(span)); err != nil {
			return err
		}
		n, err := c.Write(b)
		if err == nil && n != len(b) {
			return io.ErrShortWrite
		}
		return err
	},
}

func limiting(near net.Conn) func(time.Time) bool {
	return func(at time.Time) bool { return near.SetWriteDeadline(at) == nil }
}

// A client that takes what it is sent gets all of it, though there is no room for long.
func TestASlowClientIsGivenTime(t *testing.T) {
	for name, write := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near, client := slow(t)
			take(t, client, 96<<10)
			if err := write(near, make([]byte, 6<<20)); err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

// One that takes nothing, or next to nothing, is gone.
func TestAClientThatTakesTooLittleIsGone(t *testing.T) {
	for name, write := range ways {
		for _, bytes := range []int{0, 1 << 10} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				near, client := slow(t)
				if bytes > 0 {
					take(t, client, bytes)
				}
				if err := write(near, make([]byte, 64<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%d bytes each 100 ms: got %v, want that it is late", bytes, err)
				}
			})
		}
	}
}

// Who is cut off while more is written has no time any more, however fast the client is.
func TestATimeThatIsSetMeanwhileHolds(t *testing.T) {
	near, client := slow(t)
	c := &conn{Conn: near}
	c.waited = time.Now().Add(span)
	if err := c.SetWriteDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if c.limit(time.Now().Add(span)) {
		t.Error("a time that was set meanwhile is overridden")
	}
	if _, err := c.Write(make([]byte, 64<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	_ = client.Close()
}

func TestWhatWaitsInTheKernelIsCounted(t *testing.T) {
	near, client := slow(t)
	kernel, err := near.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if n := queued(kernel); n != 0 {
		t.Errorf("before anything was written: got %d", n)
	}
	_ = kernel.Control(func(fd uintptr) {
		for err == nil {
			_, err = syscall.Write(int(fd), make([]byte, 64<<10))
		}
	})
	full := queued(kernel)
	if _, err := io.CopyN(io.Discard, client, 256<<10); err != nil {
		t.Fatal(err)
	}
	realtest.Eventually(t, "what was taken is not counted", func() bool { return queued(kernel) <= full-128<<10 })
}
