package memory

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage/engine"
)

// Expired entries do not pile up, though nobody asks for them again.
func TestMemoryCollectsWhatExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rounds, perRound = 100, 50
		m := New()
		for round := range rounds {
			for i := range perRound {
				if err := m.Put(t.Context(), fmt.Sprint(round, i), nil, time.Second); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Second)
		}
		if got := len(m.entries); got > 2*perRound {
			t.Errorf("entries after %d: got %d, want at most %d", rounds*perRound, got, 2*perRound)
		}
		if len(m.queue) != len(m.entries) {
			t.Errorf("queue: got %d, want %d as entries", len(m.queue), len(m.entries))
		}
	})
}

// However much expires at once, one operation pays for little of it.
func TestMemoryCollectsLittleAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const keys = 1000
		m := New()
		for i := range keys {
			if err := m.Put(t.Context(), fmt.Sprint(i), nil, time.Second); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if _, err := m.Get(t.Context(), "unknown"); err != engine.ErrNotFound {
			t.Errorf("Get: got %v, want ErrNotFound", err)
		}
		if got := len(m.entries); got != keys-collectPerOperation {
			t.Errorf("entries after one operation: got %d, want %d", got, keys-collectPerOperation)
		}
	})
}

// The last instant of a life belongs to it, the next one does not.
func TestMemoryExpiresOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		for _, tc := range []struct{ ttl, lives time.Duration }{
			{time.Minute, time.Minute},
			{time.Nanosecond, time.Millisecond}, // as in Redis: rounded up
		} {
			if err := m.Put(t.Context(), "k", nil, tc.ttl); err != nil {
				t.Fatal(err)
			}
			time.Sleep(tc.lives - time.Nanosecond)
			if _, err := m.Get(t.Context(), "k"); err != nil {
				t.Errorf("Get before %v: got %v", tc.lives, err)
			}
			time.Sleep(time.Nanosecond)
			if _, err := m.Get(t.Context(), "k"); err != engine.ErrNotFound {
				t.Errorf("Get after %v: got %v, want ErrNotFound", tc.lives, err)
			}
		}
	})
}
