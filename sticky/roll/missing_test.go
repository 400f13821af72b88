package roll

import (
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

// A member is struck off that is seen to be contradicted for a while: not one that was so once, and is again in the middle of a move.
func TestWhatWasContradictedOnceIsNotStruckOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m missing
		list := Key{Pool: "p", Upstream: "a"}
		looks := func(want bool) {
			t.Helper()
			if got := m.again(list, "1"); got != want {
				t.Errorf("it is struck off: %v, want %v", got, want)
			}
		}
		looks(false)
		time.Sleep(StrikeAfter - 1)
		looks(false)
		time.Sleep(time.Nanosecond)
		looks(true)
		time.Sleep(30 * time.Minute) // of an operator who looks now and then
		looks(true)
		time.Sleep(forgetAfter)
		looks(false)
		time.Sleep(StrikeAfter)
		looks(true)
		m.found(list, "1")
		looks(false)
	})
}

// However many are contradicted, some are struck off each time.
func TestAnyNumberOfMembersIsStruckOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m missing
		var left []string // in the order of their list
		list := Key{Pool: "p", Upstream: "a"}
		for i := range 3 * maxMissing / 2 {
			left = append(left, strconv.Itoa(i))
		}
		m.again(list, "gone") // by itself: it takes the room of another for a while
		for look := 0; len(left) > 0; look++ {
			if look > 5 {
				t.Fatalf("%d are left", len(left))
			}
			left = slices.DeleteFunc(left, func(name string) bool {
				strikes := m.again(list, name)
				if strikes {
					m.found(list, name)
				}
				return strikes
			})
			if len(m.seen) > maxMissing {
				t.Fatalf("%d are noted", len(m.seen))
			}
			time.Sleep(StrikeAfter)
		}
		time.Sleep(crowdedAfter)
		for i := range maxMissing {
			m.again(list, strconv.Itoa(i))
		}
		if _, noted := m.seen[list.List()+" gone"]; noted {
			t.Error("what is gone takes room for good")
		}
	})
}
