package server

import (
	"testing"
	"testing/synctest"
	"time"
)

// A bound is never early, late by an eighth or a second at most, and rarely set.
func TestABoundIsSetRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, away := range []time.Duration{time.Millisecond, time.Second, 30 * time.Second, time.Hour} {
			set := 0
			b := bound{set: func(time.Time) error { set++; return nil }}
			for range 1000 {
				at := time.Now().Add(away)
				b.until(at)
				if late := b.at.Sub(at); late < 0 || late > away/8 || late > time.Second {
					t.Fatalf("%v away: late by %v", away, late)
				}
				time.Sleep(away / 1000)
			}
			if most := 1 + int(away/min(away/8, time.Second)); set > most+most/50+1 {
				t.Errorf("%v away: set %d times, want %d at most", away, set, most)
			}
			if b.until(time.Time{}); !b.at.IsZero() {
				t.Errorf("not lifted: %v", b.at)
			}
			past := time.Now().Add(-time.Second)
			if b.until(past); !b.at.Equal(past) {
				t.Errorf("in the past: %v, want %v", b.at, past)
			}
		}
	})
}
