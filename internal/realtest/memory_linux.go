package realtest

import (
	"os"
	"syscall"
	"testing"
)

// Where Linux has files in memory, and how much room has to be there: containers often get 64 MiB.
const (
	inMemory   = "/dev/shm"
	roomWanted = 1 << 30
)

// RunInMemory runs a package's tests with their temporary files in memory, where there is room: on a disk, what is synced
// takes most of their time.
func RunInMemory(m *testing.M) int {
	var at syscall.Statfs_t
	if err := syscall.Statfs(inMemory, &at); err != nil || at.Bavail*uint64(at.Bsize) < roomWanted {
		return m.Run()
	}
	dir, err := os.MkdirTemp(inMemory, "berth")
	if err != nil {
		return m.Run()
	}
	defer os.RemoveAll(dir)
	_ = os.Setenv("TMPDIR", dir) // nothing is wrong with the name
	return m.Run()
}
