package storage

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// What never leaves memory is as it was written. Elsewhere only its digest tells that.
func TestAValueWithoutADigestIsABlobInMemoryAlone(t *testing.T) {
	for url, whole := range map[string]bool{"memory:": true, "file:" + filepath.Join(t.TempDir(), "store"): false} {
		s, err := Open(url, Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		if err := PutBlob(t.Context(), s, "{k}", []byte("hello"), time.Hour); err != nil {
			t.Fatal(err)
		}
		record, err := s.Get(t.Context(), "{k}")
		if bare := string(record.Value) == "5::hello"; err != nil || bare != whole {
			t.Errorf("%s: kept is %q, %v; want it without a digest: %v", s, record.Value, err, whole)
		}
		if err := s.Put(t.Context(), "{k}", []byte("5::hello"), time.Hour); err != nil {
			t.Fatal(err)
		}
		value, err := GetBlob(t.Context(), s, "{k}")
		if whole && string(value) != "hello" || !whole && !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: got %q, %v", s, value, err)
		}
		if err := s.Put(t.Context(), "{k}", []byte("6::hello"), time.Hour); err != nil {
			t.Fatal(err)
		}
		if value, err := GetBlob(t.Context(), s, "{k}"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: got %q, %v of what is cut; want ErrUnavailable", s, value, err)
		}
	}
}
