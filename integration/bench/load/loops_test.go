//go:build linux

package load

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestSaturateSendsAsSoonAsItHasTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := func() (int, error) {
			time.Sleep(time.Millisecond)
			return 3, nil
		}
		got := Saturate([]Op{op, op}, 10*time.Millisecond)
		if got.Err != nil || got.Units != 60 || got.Took != 10*time.Millisecond || len(got.Latencies) != 20 {
			t.Fatalf("got %+v, want 20 ops of 3 units in 10ms", got)
		}
		if got.Latencies[0] != time.Millisecond || got.Latencies[19] != time.Millisecond {
			t.Errorf("got latencies %v, want 1ms each", got.Latencies)
		}
	})
}

func TestSaturateTellsOfAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		want := errors.New("broken")
		done := 0
		got := Saturate([]Op{func() (int, error) {
			if done++; done > 2 {
				return 0, want
			}
			time.Sleep(time.Millisecond)
			return 1, nil
		}}, time.Hour)
		if !errors.Is(got.Err, want) || got.Units != 2 {
			t.Errorf("got %d units, %v, want 2, %v", got.Units, got.Err, want)
		}
	})
}

// One stall is seen by all that were due meanwhile: those that are only sent afterwards have waited, too.
func TestPaceCountsTheWaitBehindAStall(t *testing.T) {
	const interval, n, stall = time.Millisecond, 20, 20 * time.Millisecond
	first := true
	op := func() (int, error) {
		if first {
			first = false
			time.Sleep(stall)
		}
		return 1, nil
	}
	got, err := Pace([]Op{op}, float64(time.Second/interval), n*interval)
	if err != nil || got.Err != nil || got.Units != n {
		t.Fatalf("got %d units, %v, %v, want %d", got.Units, err, got.Err, n)
	}
	// The i-th op was due i intervals after the first, and came to its turn after the stall.
	for i, took := range got.Latencies {
		if least := time.Duration(i) * interval; took < least {
			t.Errorf("latency %d of %d: got %v, want %v or more", i, n, took, least)
		}
	}
}

func TestCountStopsAtTheNumber(t *testing.T) {
	op := func() (int, error) { return 1, nil }
	if got := Count([]Op{op, op, op}, 100); got.Err != nil || got.Units != 100 || len(got.Latencies) != 100 {
		t.Errorf("got %d units, %d latencies, %v, want 100 of each", got.Units, len(got.Latencies), got.Err)
	}
	want := errors.New("broken")
	if got := Count([]Op{func() (int, error) { return 0, want }}, 100); !errors.Is(got.Err, want) || got.Units != 0 {
		t.Errorf("got %d units, %v, want none, %v", got.Units, got.Err, want)
	}
}
