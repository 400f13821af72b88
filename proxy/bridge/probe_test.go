package bridge

import (
	"testing"
	"time"

	"berth/internal/realtest"
)

// How long ago an upstream was asked what it speaks is told by no clock that is set meanwhile.
func TestDoubtsAreApartWhateverTheClockIsSetTo(t *testing.T) {
	for _, tc := range []struct {
		ago, setOn time.Duration
		may        bool
	}{
		{doubtsApart, -time.Hour, true}, {doubtsApart, time.Hour, true}, {0, time.Hour, false}, {0, -time.Hour, false},
	} {
		asked := realtest.SetBack(time.Now().Add(-tc.ago), tc.setOn)
		var f face
		f.doubted.Store(&asked)
		if may := f.mayDoubt(); may != tc.may || f.mayDoubt() {
			t.Errorf("%v after it was asked, the clock set on by %v: %v", tc.ago, tc.setOn, may)
		}
	}
	if f := (face{}); !f.mayDoubt() || f.mayDoubt() {
		t.Error("one that nobody has asked is not asked once")
	}
}
