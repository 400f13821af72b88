package storage

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/internal/storage/breaker"
	"berth/internal/storage/engine"
	"berth/internal/storage/redistest"
)

// hasteless serves whoever goes by itself; the others are to go that way.
type hasteless struct {
	Engine
	sent, ashore int
}

func (*hasteless) Shares(ctx context.Context, _ string) bool {
	_, alone := engine.Bounds(ctx)
	return !alone
}

func (h *hasteless) Put(ctx context.Context, _ string, _ []byte, _ time.Duration) error {
	if _, alone := engine.Bounds(ctx); !alone {
		h.ashore++
		return engine.ErrAshore
	}
	h.sent++
	return nil
}

// What stepped off is sent by itself, within the time of its caller, and is no outage.
func TestWhatSteppedOffIsNoOutage(t *testing.T) {
	s, _ := flakyStore(t)
	h := &hasteless{Engine: s.engine}
	s.engine = h
	for n := 1; n <= 2*breaker.FailuresToOpen; n++ {
		if err := s.Put(engine.Within(t.Context(), time.Minute), "k", nil, 0); err != nil {
			t.Fatal(err)
		}
		if h.sent != n || h.ashore != n {
			t.Fatalf("got %d sent after %d that stepped off, want %d of each", h.sent, h.ashore, n)
		}
	}
	if !s.Healthy() || !s.breakers.Closed() {
		t.Error("that was taken for an outage")
	}
}

// inAHurry makes a record as creations do that have the time for one answer.
func inAHurry(t *testing.T, s *Store, key string) error {
	t.Helper()
	return s.Each(Within(t.Context(), time.Second), []Write{{Key: key, Value: []byte("v"), TTL: time.Hour}})
}

// A server that does not answer those in a hurry is lost, as it is to others.
func TestSilenceToThoseInAHurryOpensTheBreaker(t *testing.T) {
	server := redistest.Start(t)
	s, err := Open(server.URL(), Options{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Get(t.Context(), "k"); !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	server.Stop()
	defer server.Cont()
	for range 10 {
		if err := inAHurry(t, s, "k"); !errors.Is(err, ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
	if s.breakers.Closed() {
		t.Error("the breaker is closed")
	}
}
