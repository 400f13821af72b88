package gate

import (
	"sync"
	"testing"
	"testing/synctest"
)

func TestOneHoldsItAtATime(t *testing.T) {
	var m Mutex
	var all sync.WaitGroup
	n := 0
	for range 4 {
		all.Go(func() {
			for range 1000 {
				m.Lock()
				n++
				m.Unlock()
			}
		})
	}
	if all.Wait(); n != 4000 {
		t.Errorf("got %d, want 4000", n)
	}
	if !m.TryLock() || m.TryLock() {
		t.Error("who tries does not hold it, or holds it twice")
	}
}

// Whoever waits for it is seen to wait.
func TestWhoWaitsIsDurablyBlocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m Mutex
		m.Lock()
		held := false
		go func() {
			m.Lock()
			held = true
		}()
		if synctest.Wait(); held {
			t.Error("it is held by two")
		}
		m.Unlock()
		if synctest.Wait(); !held {
			t.Error("who waited does not hold it")
		}
	})
}
