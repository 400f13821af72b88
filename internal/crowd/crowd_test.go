package crowd

import (
	"slices"
	"testing"
	"time"
)

type place struct {
	caller string
	used   time.Duration
	inUse  bool
}

// Who has most gives up what was used least lately, and nothing that is in use; nobody else does, however long ago it was used.
func TestWhoHasMostGivesUpWhatIsUnused(t *testing.T) {
	now := time.Now()
	all := []place{{"a", 0, false}, {"b", 5, false}, {"b", 1, true}, {"b", 3, false}, {"b", 4, false}, {"a", 9, true}}
	for most, want := range map[int][]place{0: {}, 2: {all[3], all[4]}, 9: {all[3], all[4], all[1]}} {
		got := Unused(slices.Values(all), func(p place) string { return p.caller },
			func(p place) (time.Time, bool) { return now.Add(p.used), !p.inUse }, most)
		if !slices.Equal(got, want) {
			t.Errorf("at most %d: got %v, want %v", most, got, want)
		}
	}
	if got := Unused(slices.Values([]place(nil)), func(p place) string { return p.caller }, nil, 1); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}
