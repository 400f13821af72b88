package storagetest

import (
	"testing"

	"berth/internal/storage"
)

// OpenMemory returns a store in memory that ends with the test.
func OpenMemory(t testing.TB) *storage.Store {
	t.Helper()
	store, err := storage.Open("memory:", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}
