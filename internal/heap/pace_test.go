package heap

import (
	"runtime"
	"testing"
)

// What a small heap allocates is collected once for each room, and not each time the heap has doubled.
func TestSmallHeapIsCollectedSeldom(t *testing.T) {
	t.Setenv("GOGC", "")
	Pace()
	runtime.GC()
	runtime.GC() // the first collection's clean-up has set the percentage by now
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const rooms = 10
	for range rooms * room / (1 << 16) {
		kept = make([]byte, 1<<16)
	}
	runtime.ReadMemStats(&after)
	if n := after.NumGC - before.NumGC; n > 2*rooms {
		t.Errorf("%d collections for %d times the room", n, rooms)
	}
}

var kept []byte

func TestPercentOfLiveBytes(t *testing.T) {
	for live, want := range map[uint64]int{room / 4: 400, room: 100, 100 * room: 100} {
		if got := percent(live); got != want {
			t.Errorf("%d bytes live: got %d, want %d", live, got, want)
		}
	}
}
