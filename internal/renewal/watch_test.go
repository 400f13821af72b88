package renewal

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

// A record that was lost and begun anew is at the same version, and says something else.
func TestARecordIsKnownByItsVersionAndByWhatItSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w Watches
		for i, look := range []struct {
			name string
			says string
			do   func()
			want time.Duration
		}{
			{"a", "x", nil, 0},
			{"b", "x", nil, 0},
			{"a", "x", nil, 2 * time.Second},
			{"a", "y", nil, 0},
			{"b", "x", nil, 3 * time.Second},
			{"a", "y", func() { w.Forget("b") }, 2 * time.Second},
			{"b", "x", nil, 0},
			{"a", "y", func() { w.Keep([]string{"b"}) }, 0},
			{"b", "x", nil, 2 * time.Second},
			{"b", "x", w.ForgetAll, 0},
		} {
			if look.do != nil {
				look.do()
			}
			if got := w.Stood(look.name, 1, look.says, 0); got != look.want {
				t.Errorf("look %d: got %v, want %v", i, got, look.want)
			}
			time.Sleep(time.Second)
		}
	})
}
