//go:build e2e

package integration

import (
	"strings"
	"testing"

	"berth/internal/storage/redistest"
)

// tasklessAlone is what the suite says of the taskless server by itself.
var tasklessAlone = tasksSet("taskless-alone")

// The bar that berth has to clear stands where it did: by itself the server fails what
// needs tasks.
func TestTasklessServerAloneGivesGoldenVerdicts(t *testing.T) {
	t.Parallel()
	verdicts := runSuite(t, tasklessAlone, tasklessFleet(t, 1, jsonAnswers)[0].url())
	if *update {
		writeGolden(t, tasklessAlone, verdicts)
	}
	wantGolden(t, tasklessAlone, verdicts)
}

func TestTasklessServerPassesTheTaskScenariosWithEveryStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers answers
		store   func(t testing.TB) string
	}{
		{"memory, JSON", jsonAnswers, func(testing.TB) string { return "memory:" }},
		{"file, JSON", jsonAnswers, fileStore},
		{"file, SSE", sseAnswers, fileStore},
		{"Redis, JSON", jsonAnswers, redisStore},
		{"Redis, SSE", sseAnswers, redisStore},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fleet := tasklessFleet(t, 3, c.answers)
			wantTaskScenarios(t, upgrader(t, fleet, c.store(t)).url())
			fleet.wantAllAtWork(t, stats.posts)
		})
	}
}

func redisStore(t testing.TB) string { return redistest.Start(t).URL() }

// Any berth does for any request of a task's life.
func TestTasklessServerPassesTheTaskScenariosThroughThreeBerths(t *testing.T) {
	t.Parallel()
	for _, answers := range []answers{jsonAnswers, sseAnswers} {
		t.Run(string(answers), func(t *testing.T) {
			t.Parallel()
			three := startUpgraders(t, tasklessFleet(t, 3, answers))
			wantTaskScenarios(t, three.url)
			three.wantAllAtWork(t)
		})
	}
}

// A berth in front takes the tasks of the one behind it for what they are to it: those of
// an upstream.
func TestTasklessServerPassesTheTaskScenariosThroughABerthBeforeABerth(t *testing.T) {
	t.Parallel()
	behind := upgrader(t, tasklessFleet(t, 3, jsonAnswers), "memory:")
	before := startBerth(t, fleet{{process: behind.process, base: behind.base}})
	wantTaskScenarios(t, before.url())
}

// Who knows no tasks sees no difference, whatever the rules name.
func TestRulesChangeNothingForOtherClients(t *testing.T) {
	for _, c := range conformance {
		if !strings.HasPrefix(c.set.name, "core-") {
			continue
		}
		t.Run(c.set.name, func(t *testing.T) {
			t.Parallel()
			fleet := c.fleet(t, c.size)
			everything := configFile(t, "[[upgrade]]\ntools = [\"*\"]\n")
			wantGolden(t, c.set, runSuite(t, c.set, startBerth(t, fleet, "--config", everything).url()))
		})
	}
}

// upgraders are three berths on one Redis that upgrade the tools of one fleet, and a
// balancer before them that sends each request to any of them.
type upgraders struct {
	berths [3]*berth
	url    string
}

func startUpgraders(t testing.TB, f fleet) *upgraders {
	t.Helper()
	u, store := &upgraders{}, redisStore(t)
	var urls []string
	for i := range u.berths {
		u.berths[i] = upgrader(t, f, store)
		urls = append(urls, u.berths[i].url())
	}
	u.url = atRandom(t, urls)
	return u
}

// wantAllAtWork fails the test if a berth answered for no task.
func (u *upgraders) wantAllAtWork(t testing.TB) {
	t.Helper()
	wantUpgraded(t, u.berths[:])
}
