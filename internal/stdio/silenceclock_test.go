package stdio

import (
	"testing"
	"time"

	"berth/internal/realtest"
)

// A process whose sign of life comes answers, whatever the machine's clock was set to meanwhile.
func TestASignOfLifeCountsThoughTheClockWasSet(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, 0, time.Hour} {
		ready := make(chan struct{})
		close(ready)
		p := &peer{server: &Server{timing: timing{quiet: time.Minute, sign: time.Minute}}, ready: ready, begun: realtest.SetBack(time.Now(), by), calls: byNumber{}}
		p.receive(nil, nil)
		p.sign = &call{begun: time.Now().Add(time.Minute)}
		if p.watchOver(time.Now()); p.sign == nil {
			t.Errorf("set by %v: what it said before counts", by)
		}
		p.sign.begun = time.Now().Add(-time.Second)
		p.receive(nil, nil)
		if p.watchOver(time.Now()); p.sign != nil {
			t.Errorf("set by %v: its sign does not count", by)
		}
	}
}
