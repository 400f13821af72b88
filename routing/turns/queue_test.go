package turns

import (
	"slices"
	"testing"
)

// Callers alternate, however often one of them waits, and those of one caller stay in order.
func TestCallersTakeTurns(t *testing.T) {
	l := NewQueue[int]()
	for i := range 3 {
		l.Join("often", i)
	}
	l.Join("once", 9)
	l.Join("gone", 7)
	if !l.Withdraw("gone", 7) || l.Withdraw("gone", 7) {
		t.Error("one who waits can be withdrawn, and once only")
	}
	if caller, n := l.Longest(); caller != "often" || n != 3 || l.Last(caller) != 2 {
		t.Errorf("got %q with %d, the last %d, want often, 3 and 2", caller, n, l.Last(caller))
	}
	var got []int
	for range 4 {
		_, one := l.First(0)
		got = append(got, one)
		l.Take(0)
	}
	if want := []int{0, 9, 1, 2}; !slices.Equal(got, want) || l.Len() != 0 || len(l.Callers()) != 0 || l.Waiting("often") != 0 {
		t.Errorf("got %v, and %d left, want %v and none", got, l.Len(), want)
	}
}
