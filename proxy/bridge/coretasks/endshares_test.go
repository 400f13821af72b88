package coretasks

import (
	"testing"
	"testing/synctest"
	"time"
)

// What a berth has the store keep of ends is bounded, for each caller and for all, and runs out with them.
func TestEndsThatAreKeptAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s endShares
		const size = 1<<20 - endSize
		fill := func(caller string, life time.Duration) (n int) {
			for ; s.fits(caller, size); n++ {
				s.put(caller, size, life)
			}
			return n
		}
		if a, b, c, d, e := fill("a", time.Hour), fill("b", time.Minute), fill("c", time.Hour), fill("", time.Hour), fill("e", time.Hour); a != 16 || b != 16 || c != 16 || d != 16 || e != 0 {
			t.Fatalf("of each there is room for %d, %d, %d, %d and %d", a, b, c, d, e)
		}
		time.Sleep(time.Minute)
		if a, e := fill("a", time.Hour), fill("e", time.Hour); a != 0 || e != 16 {
			t.Errorf("a minute later there is room for %d and %d", a, e)
		}
		time.Sleep(time.Hour)
		if s.fits("a", size); s.all != 0 || len(s.by) != 0 || len(s.queue) != 0 {
			t.Errorf("once all have run out %d bytes are left, of %d callers, %d ends", s.all, len(s.by), len(s.queue))
		}
	})
}
