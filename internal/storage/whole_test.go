package storage_test

import (
	"errors"
	"testing"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// Whether writes are taken is found out by one, and not each time.
func TestAStoreThatTakesNoWritesIsNotWhole(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.Whole(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	server.Do("CONFIG", "SET", "maxmemory", "1")
	fresh := open(t, server.URL(), storage.Options{})
	if err := fresh.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := fresh.Doubted(); err != nil {
		t.Errorf("nothing is known yet: got %v", err)
	}
	for range 3 {
		if err := fresh.Whole(t.Context()); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
	}
	if err := fresh.Doubted(); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("it is known: got %v, want ErrUnavailable", err)
	}
}
