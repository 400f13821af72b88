package unrenewed

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAVersionHasStoodSinceItWasFirstSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Watch
		for _, look := range []struct {
			after   time.Duration
			version uint64
			gap     time.Duration
			want    time.Duration
		}{
			{time.Minute, 7, 0, 0},
			{time.Second, 7, time.Second, time.Second},
			{time.Second, 7, time.Second, 2 * time.Second},
			{time.Second + 1, 7, time.Second, 0}, // nobody looked in between
			{time.Hour, 7, 0, time.Hour},
			{time.Second, 8, 0, 0},
			{time.Second, 8, 0, time.Second},
			{time.Second, 7, 0, 0}, // of another master
		} {
			time.Sleep(look.after)
			if got := w.Stood(look.version, look.gap); got != look.want {
				t.Errorf("%+v: got %v", look, got)
			}
		}
	})
}
