//go:build e2e

package storage_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// The sentinel that leads a fail-over names the new master to those who listen when all replicas follow it, and the former one takes
// writes until then. A store goes to the new one with the first sentinel that names it, and is in doubt, as it is not when it is new.
func TestTheFirstSentinelThatNamesAnotherMasterIsHeard(t *testing.T) {
	sentinels := redistest.StartSentinels(t, 2)
	s := open(t, sentinels.URL(), storage.Options{Timeout: patient})
	var told atomic.Int64
	s.OnRecover(func() { told.Add(1) })
	run(t, s)
	realtest.Eventually(t, "healthy", s.Healthy)
	before, err := s.Server(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var leader *redistest.Server
	realtest.Eventually(t, "each sentinel is followed, and one by the driver", func() bool {
		followed := 0
		for _, watcher := range sentinels.Watchers {
			clients := watcher.Do("CLIENT", "LIST")
			if strings.Contains(clients, "sub=2 ") {
				leader = watcher
			}
			if strings.Contains(clients, "sub=1 ") {
				followed++
			}
		}
		return leader != nil && followed >= 2
	})
	if err := s.Doubted(); err != nil || told.Load() != 0 {
		t.Errorf("a store that is new: got %v, told %d times", err, told.Load())
	}
	leader.Do("SENTINEL", "FAILOVER", "bindings")
	realtest.Eventually(t, "another master serves before the leader is done", func() bool {
		now, err := s.Server(t.Context())
		return err == nil && now != before && strings.Contains(leader.Do("INFO", "sentinel"), "address="+sentinels.Servers[0].Addr+",")
	})
	if err := s.Doubted(); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("got %v, want a doubt", err)
	}
	realtest.Eventually(t, "whoever may have lost something is told", func() bool { return told.Load() > 0 })
	realtest.Eventually(t, "the doubt ends", func() bool { return s.Doubted() == nil })
}
