package storage_test

import (
	"path/filepath"
	"testing"

	"berth/internal/storage"
	"berth/internal/storage/storagetest"
)

func TestFileKeepsTheContract(t *testing.T) {
	storagetest.TestEngine(t, func(t *testing.T) storage.Engine {
		return open(t, "file:"+filepath.Join(t.TempDir(), "berth.db"), storage.Options{})
	})
}

// A file that was closed and opened again is one with which nothing happened.
func TestReopenedFileKeepsTheContract(t *testing.T) {
	t.Parallel()
	storagetest.TestEngine(t, func(t *testing.T) storage.Engine {
		return &reopened{t: t, url: "file:" + filepath.Join(t.TempDir(), "berth.db")}
	})
}
