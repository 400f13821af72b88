package integration

import "testing"

// conformance is every set of the suite with the fleet that it makes sense against.
var conformance = []struct {
	set scenarioSet

	// fleet starts the real servers. Behind berth there are size of them; without
	// berth one gives the golden verdicts.
	fleet func(t testing.TB, n int) fleet
	size  int
}{
	{
		set:   tasksSet("tasks-json"),
		fleet: func(t testing.TB, n int) fleet { return tasksFleet(t, n, jsonAnswers) },
		size:  3,
	},
	{
		set:   tasksSet("tasks-sse"),
		fleet: func(t testing.TB, n int) fleet { return tasksFleet(t, n, sseAnswers) },
		size:  3,
	},
	{
		set:   coreSet("core-legacy", "2025-11-25"),
		fleet: func(t testing.TB, n int) fleet { return goFleet(t, n, true) },
		size:  3,
	},
	{
		// go-sdk's fixture adds tools at run time, to the one instance that is asked:
		// a fleet of it is not interchangeable.
		set:   coreSet("core-modern", "2026-07-28"),
		fleet: func(t testing.TB, n int) fleet { return goFleet(t, n, false) },
		size:  1,
	},
}

// The golden verdicts are those of the parts themselves, and stay so.
func TestSuiteWithoutBerthGivesGoldenVerdicts(t *testing.T) {
	for _, c := range conformance {
		t.Run(c.set.name, func(t *testing.T) {
			t.Parallel()
			verdicts := runSuite(t, c.set, c.fleet(t, 1)[0].url())
			if *update {
				writeGolden(t, c.set, verdicts)
			}
			wantGolden(t, c.set, verdicts)
		})
	}
}

// Through berth and a fleet the official suite sees what it sees without.
func TestSuiteThroughBerthGivesGoldenVerdicts(t *testing.T) {
	for _, c := range conformance {
		t.Run(c.set.name, func(t *testing.T) {
			t.Parallel()
			fleet := c.fleet(t, c.size)
			berth := startBerth(t, fleet)
			wantGolden(t, c.set, runSuite(t, c.set, berth.url()))
			berth.wantAllUsed(t, fleet)
		})
	}
}
