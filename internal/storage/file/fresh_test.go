package file

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/health"
)

// A file that could not be made for want of room is made once there is some.
func TestAFullDiskLeavesNoPartOfANewFile(t *testing.T) {
	opts := Options{Log: slog.New(slog.DiscardHandler)}
	for _, size := range []uint64{0, 100, 4 << 10, 12 << 10, 16 << 10, 20 << 10} {
		path := filepath.Join(t.TempDir(), "berth.db")
		room := realtest.FillDisk(t, size)
		e, err := Open(t.Context(), path, opts, health.New(opts.Log, true))
		room()
		if err == nil {
			t.Errorf("room for %d bytes: it was made", size)
			e.Close()
			continue
		}
		if e, err = Open(t.Context(), path, opts, health.New(opts.Log, true)); err != nil {
			t.Errorf("room for %d bytes first, and more since: got %v", size, err)
			continue
		}
		e.mustPut(t, "k", time.Hour)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}
