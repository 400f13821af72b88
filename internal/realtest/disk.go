//go:build unix

package realtest

import (
	"syscall"
	"testing"
)

// FillDisk lets no file of this process grow beyond size bytes, as a full disk does,
// until the test ends or room is called.
func FillDisk(t testing.TB, size uint64) (room func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	limit := func(most uint64) {
		now := before
		now.Cur = most
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
			t.Errorf("Setrlimit: %v", err)
		}
	}
	limit(size)
	t.Cleanup(func() { limit(before.Cur) })
	return func() { limit(before.Cur) }
}
