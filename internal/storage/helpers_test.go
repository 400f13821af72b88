package storage_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
)

// longLife is a time to live that no test outlives.
const longLife = time.Hour

// logger writes to j as text.
func logger(j *realtest.Journal) *slog.Logger { return slog.New(slog.NewTextHandler(j, nil)) }

// patient is for stores whose servers are well: a busy machine is no outage.
const patient = 5 * time.Second

// open opens a store that is closed at the end of the test.
func open(t *testing.T, url string, opts storage.Options) *storage.Store {
	t.Helper()
	s, err := storage.Open(url, opts)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

// run runs the store's probing until the end of the test, and waits for its end.
func run(t *testing.T, s *storage.Store) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	})
}

// put makes a record that the test relies on.
func put(t *testing.T, s *storage.Store, key, value string) {
	t.Helper()
	if err := s.Put(t.Context(), key, []byte(value), longLife); err != nil {
		t.Fatalf("Put: %v", err)
	}
}

// reads reports whether key is read as value. Its absence fails the test: a store
// that is away must not say that it has no such key.
func reads(t *testing.T, s *storage.Store, key, value string) bool {
	t.Helper()
	record, err := s.Get(t.Context(), key)
	if errors.Is(err, storage.ErrNotFound) {
		t.Fatalf("Get %q: got ErrNotFound for a key that exists", key)
	}
	return err == nil && string(record.Value) == value
}

// unavailable fails the test unless err is ErrUnavailable for that reason.
func unavailable(t *testing.T, err error, reason string) {
	t.Helper()
	if !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), ": "+reason+": ") {
		t.Errorf("got %v, want ErrUnavailable for the reason %s", err, reason)
	}
}
