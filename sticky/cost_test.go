package sticky

import (
	"strconv"
	"testing"
	"time"
)

// What is in memory is found without a word to the store, and a creation costs what it writes.
func TestCostOfABinding(t *testing.T) {
	b := newBerth(t, "memory:", Options{Near: 1000}, 0)
	b.mustBind(t, task("bound"), "a", time.Hour)
	if got := testing.AllocsPerRun(100, func() { _, _, _ = b.Lookup(t.Context(), task("bound")) }); got > 0 {
		t.Errorf("a look-up: got %v allocations", got)
	}
	n := 0
	if got := testing.AllocsPerRun(100, func() {
		n++
		b.mustBind(t, task(strconv.Itoa(n)), "a", time.Hour)
	}); got > 8+byRaceDetector {
		t.Errorf("a creation: got %v allocations, want %d at most", got, 8+byRaceDetector)
	}
}

// An answer from memory does not wait for a store.
func TestWhatIsInMemoryIsNotAskedFor(t *testing.T) {
	b := newBerth(t, "memory:", Options{Near: 1000}, 0)
	b.mustBind(t, task("bound"), "a", time.Hour)
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	b.owns(t, "a", task("bound"), SourceBound)
}
