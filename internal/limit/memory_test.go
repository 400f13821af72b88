package limit_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"berth/internal/limit"
	"berth/internal/realtest"
)

func TestMemoryWithoutALimitIsNeverShort(t *testing.T) {
	if debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Skip("this process has a memory limit")
	}
	if m := limit.NewMemory(); m.Short() || m.Limit() != 0 {
		t.Error("short of memory, or limited")
	}
}

// TestMemoryIsShortOfWhatCannotBeGivenUp: garbage does not count, what is held does,
// and once it is let go there is room again.
func TestMemoryIsShortOfWhatCannotBeGivenUp(t *testing.T) {
	const size = 64 << 20
	runtime.GC()
	before := debug.SetMemoryLimit(size)
	defer debug.SetMemoryLimit(before)
	m := limit.NewMemory()
	if m.Limit() != size {
		t.Fatalf("got a limit of %d, want %d", m.Limit(), size)
	}
	percent := debug.SetGCPercent(-1) // so that garbage fills the limit before it is collected
	defer debug.SetGCPercent(percent)
	for range 512 {
		touch(make([]byte, 1<<20))
		if m.Short() {
			t.Fatal("short of memory for garbage")
		}
	}
	var held [][]byte
	for range 15 {
		held = append(held, touch(make([]byte, 4<<20)))
	}
	realtest.Eventually(t, "short of memory", m.Short)
	runtime.KeepAlive(held)
	held = nil
	runtime.GC()
	realtest.Eventually(t, "room again", func() bool { return !m.Short() })
}

// touch makes the kernel give the memory.
func touch(b []byte) []byte {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	return b
}
