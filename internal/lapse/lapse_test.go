package lapse

import (
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/realtest"
)

func TestNowIsNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for range 3 {
			if now := Now(began); !now.Equal(time.Now()) || now.Sub(began) != time.Since(began) {
				t.Errorf("got %v, want %v", now, time.Now())
			}
			time.Sleep(time.Hour + time.Nanosecond)
		}
		if now := Now(time.Time{}); !now.Equal(time.Now()) {
			t.Errorf("without a time before: got %v", now)
		}
	})
}

// What began a while ago is told by the wall clock as it stands, whatever that was set to meanwhile; what is only measured is not.
func TestTheWallClockOfWhatLastsIsTheMachines(t *testing.T) {
	const step = time.Hour
	for name, c := range map[string]struct {
		now    func(time.Time) time.Time
		ago    time.Duration
		behind bool
	}{
		"just began":      {Now, 0, true},
		"began a while":   {Now, soon, false},
		"measured":        {From, 0, true},
		"measured longer": {From, soon, true},
	} {
		began := realtest.SetBack(time.Now().Add(-c.ago), step)
		now := c.now(began)
		if behind := time.Now().Round(0).Sub(now.Round(0)) > step/2; behind != c.behind {
			t.Errorf("%s: by the wall clock behind: %v", name, behind)
		}
		if took := now.Sub(began); took < c.ago || took > step/2 {
			t.Errorf("%s: %v later", name, took)
		}
	}
}
