package lapse

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestNowIsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for range 3 {
			if now := Now(began); !now.Equal(time.Now()) || now.Sub(began) != time.Since(began) {
				t.Errorf("got %v, want %v", now, time.Now())
			}
			time.Sleep(time.Hour + time.Nanosecond)
		}
		if now := Now(time.Time{}); !now.Equal(time.Now()) {
			t.Errorf("without a time before: got %v", now)
		}
	})
}
