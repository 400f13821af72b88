package upgrade

import (
	"testing"
	"testing/synctest"
	"time"
)

// Large results get into the store however long that takes, as long as their pieces do: two at once, over a slow line.
func TestLargeResultsAreStoredOverASlowLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := startBerths(t, 1, settings{shared: true}, newTool())[0]
		time.Sleep(2 * testLease)
		var ids []string
		for range 2 {
			ids = append(ids, b.hand(t, rule(func(r *Rule) { r.MaxResult = 32 << 20 }), "call big:16000/1s"))
		}
		synctest.Wait()
		b.line.lag(func() time.Duration { return 100 * time.Millisecond }) // 6 s for the pieces of one
		time.Sleep(3 * time.Minute)
		for _, id := range ids {
			if v := b.mustState(t, id, Completed); len(v.Outcome) == 0 {
				t.Error("it has no outcome")
			}
		}
		b.line.lag(nil)
	})
}
