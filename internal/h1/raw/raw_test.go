//go:build unix

package raw

import (
	"bytes"
	"syscall"
	"testing"
)

// pair are the two ends of a connection that does not block.
func pair(t *testing.T) (a, b uintptr) {
	t.Helper()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range ends {
		if err := syscall.SetNonblock(fd, true); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = syscall.Close(fd) })
	}
	return uintptr(ends[0]), uintptr(ends[1])
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	a, b := pair(t)
	got := make([]byte, 8)
	if n, err := Read(b, got); n != 0 || err != syscall.EAGAIN {
		t.Errorf("before: read %d, %v", n, err)
	}
	if n, err := Write(a, []byte("some")); n != 4 || err != nil {
		t.Errorf("wrote %d, %v", n, err)
	}
	if n, err := Read(b, got); string(got[:n]) != "some" || err != nil {
		t.Errorf("read %q, %v", got[:n], err)
	}
	if err := syscall.Shutdown(int(a), syscall.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	if n, err := Read(b, got); n != 0 || err != nil {
		t.Errorf("at the end: read %d, %v", n, err)
	}
}

func TestWhatThereIsNoRoomForIsNotWritten(t *testing.T) {
	a, b := pair(t)
	wrote, piece := 0, bytes.Repeat([]byte("x"), 1<<20)
	for range 100 {
		n, err := Write(a, piece)
		if wrote += n; err != nil {
			if n != 0 || err != syscall.EAGAIN {
				t.Errorf("wrote %d, %v", n, err)
			}
			break
		}
	}
	read := 0
	for {
		n, err := Read(b, piece)
		if read += n; err != nil {
			break
		}
	}
	if read != wrote || wrote == 0 {
		t.Errorf("read %d bytes of %d", read, wrote)
	}
}

func TestErrorsAreTheKernels(t *testing.T) {
	if n, err := Read(^uintptr(0)>>1, make([]byte, 1)); n != 0 || err != syscall.EBADF {
		t.Errorf("read %d, %v", n, err)
	}
}
