package boltcheck_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/internal/storage/boltcheck"

	"go.etcd.io/bbolt"
)

// database returns the content of a file with n keys in a bucket of several levels, a
// few in one that bbolt keeps inline, large values, and free pages.
func database(t *testing.T, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		if err := db.Update(func(tx *bbolt.Tx) error {
			many, err := tx.CreateBucketIfNotExists([]byte("many"))
			few, err2 := tx.CreateBucketIfNotExists([]byte("few"))
			if err := errors.Join(err, err2, few.Put([]byte("k"), []byte("v")), many.Put([]byte("large"), make([]byte, 100<<10))); err != nil {
				return err
			}
			for i := range n {
				if err := many.Put(fmt.Appendf(nil, "key %06d", i), fmt.Appendf(nil, "value %d", round)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func check(content []byte, visit boltcheck.Visit) (stale bool, err error) {
	return boltcheck.Check(bytes.NewReader(content), int64(len(content)), visit)
}

func ignore(_, _, _ []byte) error { return nil }

func TestWholeFileIsReadToTheLastValue(t *testing.T) {
	const keys = 20_000
	seen := map[string]int{}
	stale, err := check(database(t, keys), func(bucket, _, value []byte) error {
		seen[string(bucket)]++
		if len(value) == 0 {
			t.Error("a value is empty")
		}
		return nil
	})
	if err != nil || stale || seen["many"] != keys+1 || seen["few"] != 1 || len(seen) != 2 {
		t.Errorf("got %v, stale %v, values %v", err, stale, seen)
	}
}

func TestVisitEndsTheCheck(t *testing.T) {
	enough := errors.New("enough")
	if _, err := check(database(t, 10), func(_, _, _ []byte) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v, want the visit's error", err)
	}
}

// One state is written while the other counts: one that cannot be read is no end, but
// is told.
func TestOlderStateCountsWhereTheNewestCannotBeRead(t *testing.T) {
	content := database(t, 10)
	for page := range 2 {
		damaged := bytes.Clone(content)
		damaged[page*os.Getpagesize()+50] ^= 1
		if stale, err := check(damaged, ignore); err != nil || !stale {
			t.Errorf("head %d: got %v, %v, want stale", page, stale, err)
		}
	}
	for page := range 2 {
		content[page*os.Getpagesize()+50] ^= 1
	}
	if _, err := check(content, ignore); !errors.Is(err, boltcheck.ErrDamaged) {
		t.Errorf("both heads: got %v, want ErrDamaged", err)
	}
}

// A key without bytes is one that bbolt refuses to read when its page is written the next
// time; also in a bucket that lies within the page of another one.
func TestEmptyKeysAreDamage(t *testing.T) {
	content := database(t, 1)
	for at := 2 * os.Getpagesize(); at+4 <= len(content); at += 4 { // behind both heads
		if bytes.Equal(content[at:at+4], make([]byte, 4)) {
			continue
		}
		damaged := bytes.Clone(content)
		copy(damaged[at:], make([]byte, 4)) // also the lengths of keys
		_, err := check(damaged, func(_, key, _ []byte) error {
			if len(key) == 0 {
				t.Errorf("byte %d: a key without bytes is shown", at)
			}
			return nil
		})
		if err != nil && !errors.Is(err, boltcheck.ErrDamaged) {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// Keys out of order, or not below the key that leads to them, are keys that bbolt does not
// find.
func TestKeysOutOfOrderAreDamage(t *testing.T) {
	content := database(t, 2000)
	order := []byte(strings.ReplaceAll(string(content), "key 000017", "key 000016"))
	if _, err := check(order, ignore); !errors.Is(err, boltcheck.ErrDamaged) {
		t.Errorf("a key twice: got %v, want ErrDamaged", err)
	}
	bounds := bytes.Clone(content)
	for at := 0; at < len(bounds); at += os.Getpagesize() {
		first := at + 16 + int(binary.NativeEndian.Uint32(bounds[at+16+4:]))
		if bounds[at+8] == 2 && first+7 < len(bounds) && string(bounds[first:first+7]) == "key 001" {
			bounds[first] = 'a' // the first key of a leaf
		}
	}
	if _, err := check(bounds, ignore); !errors.Is(err, boltcheck.ErrDamaged) {
		t.Errorf("a key below its branch's: got %v, want ErrDamaged", err)
	}
}

// A page that leads back to one above it has no end.
func TestCircleIsDamage(t *testing.T) {
	content := database(t, 2000)
	size := os.Getpagesize()
	circles := 0
	for at := 2 * size; at < len(content); at += size {
		if content[at+8] == 1 { // a branch page: its first element leads to itself
			copy(content[at+16+8:at+16+16], content[at:at+8])
			circles++
		}
	}
	if _, err := check(content, ignore); circles == 0 || !errors.Is(err, boltcheck.ErrDamaged) {
		t.Errorf("%d circles: got %v, want ErrDamaged", circles, err)
	}
}
