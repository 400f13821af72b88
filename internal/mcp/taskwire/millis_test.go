package taskwire

import (
	"testing"
	"time"
)

func TestAppendMillisIsWhatPackageTimeWrites(t *testing.T) {
	east := time.FixedZone("", 5*60*60+30*60)
	midnight := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	for _, at := range []time.Time{
		{}, time.Unix(0, 0), time.Unix(1_790_000_000, 999_999_999), time.Unix(1_790_000_000, 7_000_000).In(east),
		time.Date(2028, 2, 29, 23, 59, 59, 120_000_000, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC),
		time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(7, 1, 2, 3, 4, 5, 0, east),
		midnight.Add(-time.Millisecond), midnight, midnight.Add(23*time.Hour + 59*time.Minute + 59*time.Second), midnight.Add(24 * time.Hour), midnight.In(east),
	} {
		if got, want := string(AppendMillis(nil, at)), at.UTC().Format("2006-01-02T15:04:05.000Z"); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A task that lives across midnight is told of with times of two days.
func TestTimesOfTwoDaysAreWrittenWithoutAllocations(t *testing.T) {
	midnight := time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC)
	var text [24]byte
	if n := testing.AllocsPerRun(100, func() {
		AppendMillis(text[:0], midnight.Add(-time.Second))
		AppendMillis(text[:0], midnight)
	}); n > 0 {
		t.Errorf("two times took %v allocations, want none", n)
	}
}
