package storage_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
)

// sampleRecords fill several pages, and leave free ones.
const sampleRecords = 100

func sampleKey(i int) string { return fmt.Sprintf("key %d", i) }

// sampleFile returns the content of a file with records that a test knows.
func sampleFile(t testing.TB) []byte { return fileOf(t, sampleRecords) }

// fileOf returns the content of a file with the first n records of the sample.
func fileOf(t testing.TB, n int) []byte {
	path := filepath.Join(t.TempDir(), "sample.db")
	s, err := storage.Open("file:"+path, storage.Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	for i := range n {
		if err := s.Put(t.Context(), sampleKey(i), []byte("v"), longLife); err != nil {
			t.Fatalf("Put: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// openContent opens the file of that path with this content; says is what was logged. Nobody holds it but, until it is another
// program, a process that a test beside starts.
func openContent(t testing.TB, path string, content []byte) (s *storage.Store, says string, err error) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	var journal realtest.Journal
	s, err = storage.Open("file:"+path, storage.Options{Logger: logger(&journal), Wait: realtest.Within})
	return s, journal.String(), err
}

// lost counts the records of the sample that cannot be read as they were written.
func lost(t testing.TB, s *storage.Store) (n int) {
	for i := range sampleRecords {
		if record, err := s.Get(t.Context(), sampleKey(i)); err != nil || string(record.Value) != "v" {
			n++
		}
	}
	return n
}

// A file that was cut off is refused, unless only room that nothing was written to is
// missing.
func TestCutOffFileIsRefused(t *testing.T) {
	sample := sampleFile(t)
	path, _ := inFile(t)
	for size := 1; size < len(sample); size += 509 {
		s, _, err := openContent(t, path, sample[:size])
		if err != nil {
			continue
		}
		if lost(t, s) > 0 {
			t.Errorf("cut off at %d of %d: opened, with records lost", size, len(sample))
		}
		if err := s.Close(); err != nil {
			t.Errorf("cut off at %d: Close: %v", size, err)
		}
	}
	if _, _, err := openContent(t, path, sample[:len(sample)/2]); err == nil || !strings.Contains(err.Error(), "are missing") {
		t.Errorf("cut in half: got %v, want an error that says so", err)
	}
}

// What is overwritten beneath an open file is told to who asks for it; the rest is
// served, and the process lives.
func TestDamageBeneathAnOpenFileIsNotFatal(t *testing.T) {
	path, url := inFile(t)
	s := open(t, url, storage.Options{})
	for i := range sampleRecords {
		put(t, s, sampleKey(i), "v")
	}
	if err := os.Truncate(path, 4096*3); err != nil {
		t.Fatal(err)
	}
	for i := range sampleRecords {
		if _, err := s.Get(t.Context(), sampleKey(i)); err != nil {
			unavailable(t, err, "corrupt")
		}
	}
	if _, err := s.Get(t.Context(), sampleKey(0)); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Get of what was cut off: got %v, want ErrUnavailable", err)
	}
	unavailable(t, s.Put(t.Context(), "k", nil, longLife), "corrupt")
	if s.Healthy() {
		t.Error("healthy: got true")
	}
}

// Whatever a file holds, opening it ends, with an error or with a store that works. A
// case is a content of its own, with zeros up to 16 KiB, or, where that is empty, a good file with some bytes
// changed (edits: place and value, three bytes each) and its end cut off.
func FuzzOpenFile(f *testing.F) {
	sample := fileOf(f, 3)
	f.Add([]byte(nil), []byte(nil), uint16(0))
	f.Add([]byte(nil), []byte{0x10, 0x0a, 0xff, 0x30, 0x08, 0x10}, uint16(0))
	f.Add([]byte(nil), []byte{0x40, 0x08, 0x01}, uint16(5000))
	f.Add([]byte("not a database"), []byte(nil), uint16(16<<10-len("not a database")))
	f.Add([]byte(nil), []byte{0x20, 0xac, 0}, uint16(93)) // a key without bytes, which bbolt met when it wrote
	f.Add([]byte{0}, []byte(nil), uint16(0))
	f.Fuzz(func(t *testing.T, content, edits []byte, less uint16) {
		switch {
		case len(content) > 1<<10 || len(edits) > 3<<6:
			return // takes the fuzzer longer, and finds no more
		case len(content) == 0:
			content = bytes.Clone(sample)
		default: // pages of its own, the rest of them zeros
			content = append(content, make([]byte, 16<<10-len(content))...)
		}
		for edit := range slices.Chunk(edits, 3) {
			if len(edit) == 3 {
				content[(int(edit[0])<<8|int(edit[1]))%len(content)] = edit[2]
			}
		}
		path, _ := inFile(t)
		s, _, err := openContent(t, path, content[:len(content)-int(less)%len(content)])
		if err != nil {
			return
		}
		defer s.Close()
		put(t, s, "k", "v")
		if !reads(t, s, "k", "v") {
			t.Error("what was put was not read")
		}
	})
}
