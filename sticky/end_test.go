package sticky

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// What waits to be written when the process ends is written.
func TestWhatWasSeenLastIsWrittenAtTheEnd(t *testing.T) {
	const tasks = maxUpdates + 10 // more than can wait: the rest is owed
	synctest.Test(t, func(t *testing.T) {
		b := newBerth(t, "memory:", Options{}, 0)
		for i := range tasks {
			key := task(fmt.Sprint(i))
			b.mustBind(t, key, "a", time.Hour)
			b.Observe(key, new(b.owns(t, "a", key, SourceBound)), given())
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := b.Run(ctx); err != nil {
			t.Fatal(err)
		}
		b.counts(t, "a", 0, 0)
		for i := range tasks {
			if got := over(b.store, Options{}).owns(t, "a", task(fmt.Sprint(i)), SourceBound); got.Status != "completed" {
				t.Fatalf("%d is %q", i, got.Status)
			}
		}
	})
}
