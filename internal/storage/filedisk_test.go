package storage_test

import (
	"strings"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
)

// A disk that takes no more: writes are refused and say why, reads go on, the store is
// known to be unwell, and heals without traffic when there is room again.
func TestFullDiskRefusesWritesOnly(t *testing.T) {
	_, url := inFile(t)
	var journal realtest.Journal
	s := open(t, url, storage.Options{Logger: logger(&journal)})
	run(t, s)
	recovered := make(chan struct{}, 1)
	s.OnRecover(func() { recovered <- struct{}{} })
	put(t, s, "before", "v")

	room := realtest.FillDisk(t, 4096) // nothing fits, not even what is written in place
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
