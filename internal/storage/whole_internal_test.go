package storage

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage/health"
)

// Others may write for a while what they could not, once the store is back or takes writes again.
func TestAStoreIsDoubtedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := doubted(health.Status{}, time.Time{}, time.Now()); !errors.Is(err, ErrUnavailable) {
			t.Errorf("it is away: got %v, want ErrUnavailable", err)
		}
		for what, last := range map[string]func(at time.Time) error{
			"it was away": func(at time.Time) error {
				return doubted(health.Status{Healthy: true, Back: at}, time.Time{}, time.Now())
			},
			"refused writes": func(at time.Time) error { return doubted(health.Status{Healthy: true}, at, time.Now()) },
		} {
			at := time.Now()
			time.Sleep(settling - 1)
			if err := last(at); !errors.Is(err, ErrUnavailable) {
				t.Errorf("%s: got %v within %v, want ErrUnavailable", what, err, settling)
			}
			time.Sleep(time.Nanosecond)
			if err := last(at); err != nil {
				t.Errorf("%s: got %v after %v", what, err, settling)
			}
			if err := last(time.Time{}); err != nil {
				t.Errorf("%s: got %v where it never was so", what, err)
			}
		}
	})
}
