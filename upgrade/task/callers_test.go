package task

import (
	"strconv"
	"strings"
	"testing"
)

// However many call, and whatever they are called, each has the digest of its own name, again and again.
func TestEachCallerHasItsOwnDigest(t *testing.T) {
	names := []string{""}
	for i := range 4 * len(callers) {
		names = append(names, strconv.Itoa(i))
	}
	names = append(names, strings.Repeat("x", longestCaller+1))
	for range 3 {
		for _, name := range names {
			for range 2 {
				if got, want := digestOfCaller(name), Digest(name); got != want {
					t.Fatalf("%.20q: got %s, want %s", name, got, want)
				}
			}
		}
	}
	for i := range callers {
		if last := callers[i].Load(); last != nil && len(last.caller) > longestCaller {
			t.Errorf("a name of %d bytes is kept", len(last.caller))
		}
	}
	if n := testing.AllocsPerRun(100, func() { digestOfCaller("0") }); n > 0 {
		t.Errorf("%v allocations of one that is known", n)
	}
}
