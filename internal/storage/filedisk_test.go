package storage_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
)

// A disk that takes no more: writes are refused and say why, reads go on, the store is
// known to be unwell, and heals without traffic when there is room again.
func TestFullDiskRefusesWritesOnly(t *testing.T) {
	path, url := inFile(t)
	var journal realtest.Journal
	s := open(t, url, storage.Options{Logger: logger(&journal)})
	run(t, s)
	recovered := make(chan struct{}, 1)
	s.OnRecover(func() { recovered <- struct{}{} })
	put(t, s, "before", "v")

	room := fillDisk(t, path)
	large := strings.Repeat("x", 1<<20)
	unavailable(t, s.Put(t.Context(), "k", []byte(large), longLife), "disk")
	if s.Healthy() {
		t.Error("healthy after a write failed: got true")
	}
	if !reads(t, s, "before", "v") {
		t.Error("what was written before is not read")
	}
	if _, err := s.Get(t.Context(), "k"); err != storage.ErrNotFound {
		t.Errorf("Get of what could not be written: got %v, want ErrNotFound", err)
	}

	room()
	realtest.Eventually(t, "the store is healthy again", s.Healthy)
	realtest.Eventually(t, "the recovery is told", func() bool { return len(recovered) == 1 })
	put(t, s, "after", large)
	if !strings.Contains(journal.String(), "store lost") || !strings.Contains(journal.String(), "store is back") {
		t.Errorf("logged %q, want the outage and its end", journal.String())
	}
}

// fillDisk lets no file of this process grow beyond where path ends, as a full disk
// does; room ends that.
func fillDisk(t *testing.T, path string) (room func()) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
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
	// Nothing fits, not even what is written in place.
	limit(uint64(min(info.Size(), 4096)))
	t.Cleanup(func() { limit(before.Cur) })
	return func() { limit(before.Cur) }
}
