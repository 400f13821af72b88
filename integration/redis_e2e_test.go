//go:build e2e

package integration

import (
	"testing"

	"berth/internal/storage/redistest"
)

// redisFaults is what befalls the Redis of a pair of berths while clients are at
// work, and how it ends.
var redisFaults = []struct {
	name   string
	befall func(*redistest.Server)
	end    func(*redistest.Server)
}{
	{
		name:   "killed",
		befall: (*redistest.Server).Kill,
		end:    func(s *redistest.Server) { s.Restart() },
	},
	{
		name:   "frozen",
		befall: (*redistest.Server).Stop,
		end:    (*redistest.Server).Cont,
	},
	{
		name:   "flushed",
		befall: func(s *redistest.Server) { s.Do("FLUSHALL") },
		end:    func(*redistest.Server) {},
	},
}

// faultCalls is how many calls are under way while Redis is away. It stays below
// what berth lets through to the fleet when it has to ask for ids, by default.
const faultCalls = 12

// What began before a fault of Redis, in it and after it comes back right: the fleet
// knows its own tasks and sessions.
func TestFaultsOfRedisLoseNothing(t *testing.T) {
	t.Parallel()
	for _, fault := range redisFaults {
		for _, m := range matrix {
			t.Run(fault.name+"/"+m.name, func(t *testing.T) {
				t.Parallel()
				fleet := m.fleet(t)
				pair := startPair(t, fleet)

				before := startDriver(t, m.driver, pair.url, faultCalls)
				awaitWork(t, fleet, m.work)
				fault.befall(pair.redis)
				wantRight(t, "begun before the fault", before.report(t))
				wantRight(t, "begun in the fault", drive(t, m.driver, pair.url, faultCalls))
				fault.end(pair.redis)
				wantRight(t, "begun after the fault", drive(t, m.driver, pair.url, faultCalls))
			})
		}
	}
}

// awaitWork waits until the fleet has begun with some client's work.
func awaitWork(t testing.TB, f fleet, counted func(stats) int) {
	t.Helper()
	if !await(t, readyWithin, func() bool { return f.sum(t, counted) > 0 }) {
		t.Fatal("no work reached the fleet")
	}
}

func wantRight(t testing.TB, when string, got report) {
	t.Helper()
	t.Logf("%s: %v", when, got)
	got.wantAllRight(t)
}
