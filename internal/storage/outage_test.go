package storage_test

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// boundOnFrozen is how long one operation on a frozen Redis may take: twice the
// default time-out, and some for the machine.
const boundOnFrozen = 600 * time.Millisecond

// D1: a Redis that is down at start keeps nobody waiting, and is found later.
func TestDownAtStartHeals(t *testing.T) {
	server := redistest.Start(t)
	server.Kill()
	var log realtest.Journal
	var outages, recoveries atomic.Int64
	s := open(t, server.URL(), storage.Options{Logger: logger(&log), Lost: func(string) { outages.Add(1) }})
	s.OnRecover(func() { recoveries.Add(1) })
	run(t, s)

	_, err := s.Get(t.Context(), "k")
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Get: got %v, want ErrUnavailable", err)
	}
	realtest.Eventually(t, "the outage is known", func() bool { return s.Health().LastError != "" })
	if s.Healthy() {
		t.Error("Healthy: got true while down")
	}
	server.Restart()
	realtest.Eventually(t, "healthy", s.Healthy)
	realtest.Eventually(t, "OnRecover called", func() bool { return recoveries.Load() == 1 })
	put(t, s, "k", "v")
	if got := s.Health().LastError; got != "" {
		t.Errorf("LastError while healthy: got %q, want none", got)
	}
	if n := outages.Load(); n != 1 {
		t.Errorf("told of %d outages, want one", n)
	}
}

// A refused connection is told at once: trying again, as the driver would, takes
// longer than this store waits, and would end in a time-out.
func TestRefusedConnectionsAreNotTriedAgain(t *testing.T) {
	server := redistest.Start(t)
	server.Kill()
	s := open(t, server.URL(), storage.Options{Timeout: 100 * time.Millisecond})
	_, err := s.Get(t.Context(), "k")
	unavailable(t, err, "refused")
}

// The first answer of a store that was never away is no recovery and no news.
func TestUpAtStartIsNoRecovery(t *testing.T) {
	server := redistest.Start(t)
	var log realtest.Journal
	s := open(t, server.URL(), storage.Options{Logger: logger(&log)})
	var recoveries atomic.Int64
	s.OnRecover(func() { recoveries.Add(1) })
	if s.Healthy() {
		t.Error("Healthy before the first answer: got true, want false")
	}
	run(t, s)
	realtest.Eventually(t, "healthy", s.Healthy)
	put(t, s, "k", "v")
	if recoveries.Load() != 0 || log.String() != "" {
		t.Errorf("got %d recoveries and the log %q, want none", recoveries.Load(), log.String())
	}
}

// An outage is logged when it begins and when it ends, whatever the traffic.
func TestOutagesAreLoggedOnChangeOnly(t *testing.T) {
	server := redistest.Start(t)
	var log realtest.Journal
	s := open(t, server.URL(), storage.Options{Logger: logger(&log)})
	run(t, s)
	realtest.Eventually(t, "healthy", s.Healthy)
	for outage := 1; outage <= 2; outage++ {
		server.Kill()
		realtest.Eventually(t, "unhealthy", func() bool {
			_, err := s.Get(t.Context(), "k")
			return err != nil && !s.Healthy()
		})
		for range 50 {
			_, _ = s.Get(t.Context(), "k")
		}
		server.Restart()
		realtest.Eventually(t, "healthy again", s.Healthy)
		realtest.Eventually(t, "logged", func() bool {
			return log.Count("store lost") == outage && log.Count("store is back") == outage
		})
	}
	if got := log.Count("\n"); got != 4 {
		t.Errorf("log lines: got %d, want 4:\n%s", got, log.String())
	}
}

// D7: operations on a frozen Redis end, all at once and one after another, though
// their callers set no deadline; the breaker turns the later ones away; and nothing
// is left behind.
func TestFrozenRedisKeepsNobodyWaiting(t *testing.T) {
	const sequential, concurrent = 20, 500
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	put(t, s, "k", "v")
	before := runtime.NumGoroutine()
	server.Stop()
	ends(t, sequential*boundOnFrozen, func() {
		var callers sync.WaitGroup
		for range concurrent {
			callers.Go(func() {
				if _, err := s.Get(t.Context(), "k"); !errors.Is(err, storage.ErrUnavailable) {
					t.Errorf("Get: got %v, want ErrUnavailable", err)
				}
			})
		}
		callers.Wait()
	})
	_, err := s.Get(t.Context(), "k")
	unavailable(t, err, "breaker_open")
	ends(t, sequential*boundOnFrozen, func() {
		for range sequential {
			if err := s.Put(t.Context(), "k", nil, longLife); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("Put: got %v, want ErrUnavailable", err)
			}
		}
	})
	realtest.Eventually(t, "goroutines back at the baseline", func() bool { return runtime.NumGoroutine() <= before })

	server.Cont()
	run(t, s)
	realtest.Eventually(t, "healthy", s.Healthy)
	if !reads(t, s, "k", "v") {
		t.Error("the record was not read after the freeze")
	}
}

// The driver's bound, without the breaker's help: the first operations of several
// stores, whose breakers are closed, on connections that they have or have to make.
func TestEachOperationOnAFrozenRedisEnds(t *testing.T) {
	const stores = 10
	server := redistest.Start(t)
	var opened [stores]*storage.Store
	for i := range opened {
		opened[i] = open(t, server.URL(), storage.Options{})
		if i%2 == 0 {
			put(t, opened[i], "k", "v")
		}
	}
	server.Stop()
	// Five bounds for two operations leave room for a busy machine, and still tell a
	// driver that tries again, or waits for its defaults of seconds.
	ends(t, 5*boundOnFrozen, func() {
		var callers sync.WaitGroup
		for _, s := range opened {
			callers.Go(func() {
				_, err := s.Get(t.Context(), "k")
				unavailable(t, err, "timeout")
				_, err = s.Swap(t.Context(), "k", 1, nil, longLife)
				unavailable(t, err, "timeout")
			})
		}
		callers.Wait()
	})
}

// ends fails the test if work takes longer than patience.
func ends(t *testing.T, patience time.Duration, work func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); work() }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		t.Fatalf("not ended within %v", patience)
	}
}

// D20: misses are answers. The breaker stays closed under a flood of them, opens in
// a real outage, and closes again.
func TestMissesAreNoFailures(t *testing.T) {
	const askers, misses = 10, 10_000
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{Timeout: patient})
	run(t, s)
	var running sync.WaitGroup
	for range askers {
		running.Go(func() {
			for range misses {
				if _, err := s.Get(t.Context(), "unknown"); !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("Get: got %v, want ErrNotFound", err)
					return
				}
			}
		})
	}
	running.Wait()
	server.Kill()
	realtest.Eventually(t, "the breaker opens", func() bool {
		_, err := s.Get(t.Context(), "unknown")
		if err == nil || errors.Is(err, storage.ErrNotFound) {
			t.Fatalf("Get with Redis down: got %v", err)
		}
		return !s.Healthy()
	})
	server.Restart()
	back := time.Now()
	realtest.Eventually(t, "the breaker closes", func() bool {
		_, err := s.Get(t.Context(), "unknown")
		return errors.Is(err, storage.ErrNotFound)
	})
	t.Logf("the breaker closed %v after Redis answered again", time.Since(back))
}

// An outage of any length ends: the driver stops dialling after a while, and only
// its own probe lets it try again.
func TestLongOutageHeals(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL()+"?pool_size=1", storage.Options{})
	put(t, s, "k", "v")
	server.Kill()
	for range 5 {
		_, err := s.Get(t.Context(), "k")
		if !errors.Is(err, storage.ErrUnavailable) {
			t.Fatalf("Get: got %v, want ErrUnavailable", err)
		}
	}
	server.Restart()
	run(t, s)
	realtest.Eventually(t, "healthy", s.Healthy)
}
