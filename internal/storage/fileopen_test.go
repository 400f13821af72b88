package storage_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"

	"go.etcd.io/bbolt"
)

// inFile is a file's path in a directory of the test's own, and its URL.
func inFile(t testing.TB) (path, url string) {
	path = filepath.Join(t.TempDir(), "berth.db")
	return path, "file:" + path
}

// notOpened fails the test unless opening url fails with an error that says all of says.
func notOpened(t *testing.T, url string, says ...string) {
	t.Helper()
	s, err := storage.Open(url, storage.Options{})
	if err == nil {
		_ = s.Close()
		t.Fatalf("Open %s: got no error", url)
	}
	for _, part := range says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("Open %s: got %q, want it to say %q", url, err, part)
		}
	}
}

func TestFileIsRefusedWhileAnotherHoldsIt(t *testing.T) {
	path, url := inFile(t)
	open(t, url, storage.Options{})
	notOpened(t, url, path, "another berth holds this file")
}

// A berth that takes over waits for the one that drains, and finds all that it wrote.
func TestFileIsWaitedFor(t *testing.T) {
	_, url := inFile(t)
	var journal realtest.Journal
	first := open(t, url, storage.Options{})
	put(t, first, "k", "v")
	taken := make(chan *storage.Store, 1)
	go func() {
		second, err := storage.Open(url, storage.Options{Wait: time.Hour, Logger: logger(&journal)})
		if err != nil {
			t.Errorf("Open: %v", err)
		}
		taken <- second
	}()
	realtest.Eventually(t, "the second waits", func() bool { return strings.Contains(journal.String(), "waiting for it to end") })
	if err := first.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	second := <-taken
	if second == nil {
		return
	}
	defer second.Close()
	if !reads(t, second, "k", "v") {
		t.Error("what the first wrote is not read by the second")
	}
}

func TestWaitForAFileEndsWithItsContext(t *testing.T) {
	_, url := inFile(t)
	open(t, url, storage.Options{})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := storage.OpenContext(ctx, url, storage.Options{Wait: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("OpenContext: got %v, want context.Canceled", err)
	}
}

// Who owns what is nobody else's to read.
func TestFileIsItsOwnersAlone(t *testing.T) {
	path, url := inFile(t)
	open(t, url, storage.Options{})
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", info.Mode(), err)
	}
}

func TestWhatIsNoFileOfOursIsRefused(t *testing.T) {
	directory := t.TempDir()
	foreign := func(name, bucket, key, value string) string {
		path := filepath.Join(directory, name)
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte(bucket))
			if err != nil {
				return err
			}
			return b.Put([]byte(key), []byte(value))
		}); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	text := filepath.Join(directory, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 10_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, says string }{
		{directory, "is a directory"},
		{filepath.Join(directory, "missing", "berth.db"), "there is no directory " + filepath.Join(directory, "missing")},
		{"/dev/null", "no regular file"},
		{text, "it is no database"},
		{foreign("foreign", "accounts", "k", "v"), "another program"},
		{foreign("newer", "berth", "format", "3"), "a newer berth wrote it, in format 3"},
	} {
		notOpened(t, "file:"+c.path, "file:"+c.path, c.says)
	}
}

// A URL is judged on a machine where its file need not be.
func TestCheckingAURLTouchesNoFile(t *testing.T) {
	path, url := inFile(t)
	if err := storage.CheckURL(url); err != nil {
		t.Errorf("CheckURL: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after CheckURL: got %v, want no file", err)
	}
}

// The key of a new file is written last; a berth that died before left an empty one.
func TestEmptyFileIsANewOne(t *testing.T) {
	path, url := inFile(t)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, open(t, url, storage.Options{}), "k", "v")
}
