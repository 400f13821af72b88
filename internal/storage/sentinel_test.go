package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// A set that the sentinels do not know is away: they say nil, which is not "no such
// key".
func TestUnknownMasterIsUnavailable(t *testing.T) {
	t.Parallel()
	sentinels := redistest.StartSentinels(t, 0)
	s := open(t, strings.Replace(sentinels.URL(), "/bindings", "/another", 1), storage.Options{})
	for range 3 {
		_, err := s.Get(t.Context(), "k")
		unavailable(t, err, "other")
	}
	_, err := s.Get(t.Context(), "k")
	unavailable(t, err, "breaker_open")
}

// D18 for sentinels: they may ask for a password of their own.
func TestSentinelSecretsAreUnspoken(t *testing.T) {
	t.Parallel()
	sentinels := redistest.StartSentinels(t, 0)
	for _, watcher := range sentinels.Watchers {
		watcher.Do("ACL", "SETUSER", "default", ">"+canary)
	}
	put(t, open(t, sentinels.URL()+"?sentinel_password="+canary, storage.Options{}), "k", "v")
	for name, url := range map[string]string{
		"none":            sentinels.URL(),
		"wrong":           sentinels.URL() + "?sentinel_password=not-" + canary,
		"wrong user":      sentinels.URL() + "?sentinel_user=nobody&sentinel_password=" + canary,
		"of the servers'": strings.Replace(sentinels.URL(), "://", "://:"+canary+"@", 1) + "?sentinel_password=" + canary,
	} {
		t.Run(name, func(t *testing.T) {
			sentinels.Servers[0].Do("CONFIG", "SET", "requirepass", "another")
			var log realtest.Journal
			s := open(t, url, storage.Options{Logger: logger(&log)})
			_, err := s.Get(t.Context(), "k")
			unavailable(t, err, "auth")
			silent(t, s, &log, err)
			if log.Count("store lost") != 1 {
				t.Errorf("log: got %q, want the outage", log.String())
			}
		})
	}
}

// One sentinel that hangs or is gone, though it is the first in the URL, keeps nobody
// from the master.
func TestOneSentinelIsEnough(t *testing.T) {
	t.Parallel()
	sentinels := redistest.StartSentinels(t, 0)
	sentinels.Watchers[0].Stop()
	sentinels.Watchers[1].Kill()
	s := open(t, sentinels.URL(), storage.Options{})
	run(t, s)
	realtest.Eventually(t, "healthy", s.Healthy)
	for i := range 20 {
		put(t, s, fmt.Sprint(i), "v")
	}
}

// Where nobody answers, neither sentinels nor servers, an operation ends as it does on a
// single frozen server: the first ones of stores that were connected and of some that
// were not.
func TestEachOperationOnFrozenSetsEnds(t *testing.T) {
	t.Parallel()
	const timeout = time.Second // long beside what a busy machine takes
	sentinels, cluster := redistest.StartSentinels(t, 0), redistest.StartCluster(t, 3, 0)
	var opened []*storage.Store
	for _, url := range []string{sentinels.URL(), cluster.URL()} {
		connected := open(t, url, storage.Options{Timeout: timeout})
		put(t, connected, "k", "v")
		opened = append(opened, connected, open(t, url, storage.Options{Timeout: timeout}))
	}
	for _, server := range slices.Concat(sentinels.Servers, sentinels.Watchers, cluster.Nodes) {
		server.Stop()
	}
	ends(t, 4*timeout, func() { // twice the time-out is promised
		var callers sync.WaitGroup
		for _, s := range opened {
			callers.Go(func() {
				_, err := s.Get(t.Context(), "k")
				unavailable(t, err, "timeout")
			})
		}
		callers.Wait()
	})
}

// D20: "no such key" is an answer here as well.
func TestMissesInSetsAreNoFailures(t *testing.T) {
	t.Parallel()
	const askers, misses = 10, 1000
	for _, url := range []string{redistest.StartSentinels(t, 0).URL(), redistest.StartCluster(t, 3, 0).URL()} {
		s := open(t, url, storage.Options{Timeout: patient}) // it is misses that are counted here
		var running sync.WaitGroup
		for asker := range askers {
			running.Go(func() {
				for i := range misses {
					if _, err := s.Get(t.Context(), fmt.Sprint(asker, i)); !errors.Is(err, storage.ErrNotFound) {
						t.Errorf("Get: got %v, want ErrNotFound", err)
						return
					}
				}
			})
		}
		running.Wait()
	}
}
