//go:build soak

package integration

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

var soakFor = flag.Duration("soak", 30*time.Minute, "how long the soak goes on; give -timeout some minutes more")

// soaked is one client's deployment, kept for the whole soak: two berths on one
// Redis and a round robin in front of them.
type soaked struct {
	driver driver
	url    string
	redis  *redistest.Server
	berths [2]*watched
}

// The same berths serve every real client for as long as -soak says, while their
// Redis is killed, frozen and flushed at random. No round may lose anything, and in
// the end the berths hold no more than after the first.
func TestSoak(t *testing.T) {
	var deployments []*soaked
	for _, m := range matrix {
		deployments = append(deployments, startSoaked(t, m.driver, m.fleet(t)))
	}
	for _, s := range deployments {
		s.round(t)
	}
	before := heldBy(t, deployments)
	rounds := 0
	for end := time.Now().Add(*soakFor); time.Now().Before(end) && !t.Failed(); rounds++ {
		deployments[rand.IntN(len(deployments))].round(t)
	}
	client := newModernClient(t)
	for i, s := range deployments {
		for j, b := range s.berths {
			b.wantHeld(t, before[i][j], client)
		}
	}
	t.Logf("%d rounds", rounds)
}

func startSoaked(t testing.TB, d driver, f fleet) *soaked {
	t.Helper()
	s := &soaked{driver: d, redis: redistest.Start(t)}
	var urls []string
	for i := range s.berths {
		s.berths[i] = startWatched(t, f, "--store", s.redis.URL())
		urls = append(urls, s.berths[i].url())
	}
	s.url = roundRobin(t, urls)
	return s
}

// round lets something befall Redis while clients are at work.
func (s *soaked) round(t testing.TB) {
	t.Helper()
	fault := redisFaults[rand.IntN(len(redisFaults))]
	begun := startDriver(t, s.driver, s.url, faultCalls)
	fault.befall(s.redis)
	wantRight(t, fault.name+", begun before", begun.report(t))
	wantRight(t, fault.name+", begun in it", drive(t, s.driver, s.url, faultCalls))
	fault.end(s.redis)
	wantRight(t, fault.name+", begun after", drive(t, s.driver, s.url, faultCalls))
}

func heldBy(t testing.TB, deployments []*soaked) (all [][2]held) {
	t.Helper()
	for _, s := range deployments {
		all = append(all, [2]held{s.berths[0].held(t), s.berths[1].held(t)})
	}
	return all
}
