package redis

import (
	"slices"
	"testing"
)

// While replicas do not follow, one write at a time waits for them its whole time, until one of them, or another, has what it asks for.
func TestOneWriteAtATimeWaitsForReplicasThatDoNotFollow(t *testing.T) {
	t.Parallel()
	var l lag
	begin := func(n int) (whole []bool) {
		for range n {
			whole = append(whole, l.begin())
		}
		return whole
	}
	if got := begin(4); slices.Contains(got, false) {
		t.Fatalf("while they follow: got %v, want the whole time for all", got)
	}
	for range 4 {
		l.end(true, waitShort)
	}
	if got := begin(3); !slices.Equal(got, []bool{true, false, false}) {
		t.Errorf("after misses: got %v, want the whole time for the first", got)
	}
	l.end(false, waitShort)
	l.end(true, waitUntold)
	if got := begin(2); !slices.Equal(got, []bool{true, false}) {
		t.Errorf("after the one that looked: got %v, want the whole time for one more", got)
	}
	l.end(false, waitEnough)
	if got := begin(2); slices.Contains(got, false) {
		t.Errorf("after a write that replicas have: got %v, want the whole time for all", got)
	}
}
