package storage_test

import (
	"fmt"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// infoCalls is a script that tells how often a server was asked for INFO.
const infoCalls = `return tonumber(string.match(redis.call('INFO', 'commandstats'), 'cmdstat_info:calls=(%d+)') or 0)`

// TestServerThatDropsKeysIsTold: a binding that Redis dropped is an unknown id, so
// whoever runs it hears of it before its memory is full.
func TestServerThatDropsKeysIsTold(t *testing.T) {
	for policy, drops := range map[string]bool{"noeviction": false, "allkeys-lru": true, "volatile-ttl": true} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t, "--maxmemory-policy", policy)
			var journal realtest.Journal
			s := open(t, server.URL(), storage.Options{Logger: logger(&journal)})
			run(t, s)
			own := 0 // questions of the script itself, which count as well
			realtest.Eventually(t, "the server to be asked", func() bool {
				asked := server.Do("EVAL", infoCalls, "0")
				own++
				return asked != fmt.Sprint(":", own-1)
			})
			if !drops {
				if evicts := s.Health().Evicts; evicts != "" || journal.Count("drops bindings") != 0 {
					t.Errorf("got %q, want nothing said:\n%s", evicts, &journal)
				}
				return
			}
			realtest.Eventually(t, "the policy to be known and told", func() bool {
				return s.Health().Evicts == policy && journal.Count("drops bindings") != 0
			})
			if n := journal.Count("drops bindings"); n != 1 || journal.Count(policy) != 1 {
				t.Errorf("told of %d times, want once, with the policy:\n%s", n, &journal)
			}
			if !s.Healthy() {
				t.Error("it is taken for an outage")
			}
		})
	}
}
